// SPDX-License-Identifier: Apache-2.0
#include "tilewright/harness/compare.h"

#include <cmath>
#include <limits>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

// How many times the tolerance the error is; infinite for a NaN or infinity out of place.
double excess_of(double got, double expected, const Tolerance& tolerance) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isnan(expected) || std::isnan(got)) {
    return std::isnan(expected) && std::isnan(got) ? 0 : kInfinity;
  }
  if (got == expected) return 0;
  if (std::isinf(expected) || std::isinf(got)) return kInfinity;
  const double allowed = tolerance.absolute + tolerance.relative * std::fabs(expected);
  return allowed == 0 ? kInfinity : std::fabs(got - expected) / allowed;
}

Shape coordinates(std::int64_t index, const Shape& shape) {
  Shape result = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    result[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return result;
}

}  // namespace

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::f32: return 0x1p-23;
    case DType::f16: return 0x1p-10;
    case DType::bf16: return 0x1p-7;
    default: return 0;
  }
}

Tolerance tolerance(DType out, std::int64_t length, double scale) {
  const double smallest = out == DType::f16 ? 0x1p-25 : 0;  // half the subnormal step
  // 4 units: the functions of one element (exp, division) and the reference's own input.
  return {0.5 * epsilon(out) + 4 * 0x1p-23,
          smallest + 6 * 0x1p-24 * scale * std::sqrt(double(length))};
}

Comparison compare(const std::vector<double>& got, const std::vector<double>& expected,
                   const Shape& shape, const Tolerance& tolerance) {
  TW_CHECK(got.size() == expected.size(), InvalidArgument, "compare: got ", got.size(),
           " values against ", expected.size(), " expected");
  Comparison result;
  result.count = std::int64_t(got.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double excess = excess_of(got[i], expected[i], tolerance);
    result.bad += excess > 1;
    if (result.worst >= 0 && excess <= result.excess) continue;
    result.worst = std::int64_t(i);
    result.excess = excess;
    result.expected = expected[i];
    result.got = got[i];
  }
  result.ok = result.bad == 0;
  if (result.worst >= 0) {
    result.message = str(result.bad, " of ", result.count, " out of bounds; worst ",
                         coordinates(result.worst, shape), ": expected ", result.expected, ", got ",
                         result.got, " (", result.excess, " times the tolerance)");
  }
  return result;
}

}  // namespace tilewright
