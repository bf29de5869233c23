// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tilewright/base/dtype.h"
#include "tilewright/base/shape.h"

namespace tilewright {

// |got - expected| <= absolute + relative * |expected|. NaN is to be NaN, an infinity itself.
struct Tolerance {
  double relative = 0, absolute = 0;
};

// Half a unit in the last place of `out` for the final rounding, and for `length` float32 additions
// in blocks (of `scale`-sized terms) an absolute error that grows with the root of the length, as
// rounding errors of mixed sign do; six times it, so that one element in a billion may not pass.
Tolerance tolerance(DType out, std::int64_t length = 1, double scale = 1);
// The distance from 1 to the next number of the dtype.
double epsilon(DType dtype);

struct Comparison {
  bool ok = true;
  std::int64_t worst = -1, bad = 0, count = 0;  // index of the worst element, number out of bounds
  double expected = 0, got = 0, excess = 0;     // at the worst; excess 1: just in bounds
  // "3 of 64 out of bounds; worst [1, 5]: expected 0.5, got 0.75 (300 times the tolerance)"
  std::string message;
};

Comparison compare(const std::vector<double>& got, const std::vector<double>& expected,
                   const Shape& shape, const Tolerance& tolerance);

}  // namespace tilewright
