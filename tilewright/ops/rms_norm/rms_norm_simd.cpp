// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/rms_norm/rms_norm_table.h"

#include "tilewright/ops/_core/simd.h"

namespace tilewright::TW_ISA {
namespace {

float sum_of_squares(const float* x, std::int64_t n) {
  Floats sums[4] = {hn::Zero(kFloats), hn::Zero(kFloats), hn::Zero(kFloats), hn::Zero(kFloats)};
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (int k = 0; k < 4; ++k) {
      const Floats v = hn::LoadU(kFloats, x + i + k * kLanes);
      sums[k] = hn::MulAdd(v, v, sums[k]);
    }
  }
  for (; i + kLanes <= n; i += kLanes) {
    const Floats v = hn::LoadU(kFloats, x + i);
    sums[0] = hn::MulAdd(v, v, sums[0]);
  }
  if (i < n) {
    const Floats v = load_some_floats<Storage::kF32>(x, i, n - i);
    sums[1] = hn::MulAdd(v, v, sums[1]);
  }
  const Floats sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(kFloats, sum));
}

void row(const float* x, const float* weight, float* y, std::int64_t n, float eps) {
  const float scale = 1.0f / __builtin_sqrtf(sum_of_squares(x, n) / float(n) + eps);
  const Floats factor = hn::Set(kFloats, scale);
  map_row(y, x, weight, n,
          [&](Floats value, Floats w) HWY_ATTR { return hn::Mul(hn::Mul(value, factor), w); });
}

void add(const float* a, const float* b, float* sum, std::int64_t n) {
  map_row(sum, a, b, n, [](Floats left, Floats right) HWY_ATTR { return hn::Add(left, right); });
}

}  // namespace

const RmsNormTable& rms_norm_table() {
  static const RmsNormTable table = {row, add};
  return table;
}

}  // namespace tilewright::TW_ISA
