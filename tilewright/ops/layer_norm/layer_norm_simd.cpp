// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/simd.h"
#include "tilewright/ops/layer_norm/layer_norm_table.h"

namespace tilewright::TW_ISA {
namespace {

// The sum of function(x) over a row.
template <class Function>
HWY_INLINE float sum_of(const float* x, std::int64_t n, const Function& function) {
  Floats sums[2] = {hn::Zero(kFloats), hn::Zero(kFloats)};
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    sums[0] = hn::Add(sums[0], function(hn::LoadU(kFloats, x + i)));
    sums[1] = hn::Add(sums[1], function(hn::LoadU(kFloats, x + i + kLanes)));
  }
  for (; i < n; i += kLanes) {
    const std::int64_t count = n - i < kLanes ? n - i : kLanes;
    const Floats value = function(load_some_floats<Storage::kF32>(x, i, count));
    const auto kept = hn::FirstN(kFloats, std::size_t(count));
    sums[0] = hn::Add(sums[0], hn::IfThenElseZero(kept, value));
  }
  return hn::GetLane(hn::SumOfLanes(kFloats, hn::Add(sums[0], sums[1])));
}

void row(const float* x, const float* weight, const float* bias, float* y, std::int64_t n,
         float eps) {
  const float mean = sum_of(x, n, [](Floats v) HWY_ATTR { return v; }) / float(n);
  const Floats center = hn::Set(kFloats, mean);
  const float variance = sum_of(x, n,
                                [&](Floats v) HWY_ATTR {
                                  const Floats d = hn::Sub(v, center);
                                  return hn::Mul(d, d);
                                }) /
                         float(n);
  const Floats factor = hn::Set(kFloats, 1.0f / __builtin_sqrtf(variance + eps));
  map_row(y, x, weight, n, [&](Floats v, Floats w) HWY_ATTR {
    return hn::Mul(hn::Mul(hn::Sub(v, center), factor), w);
  });
  if (bias == nullptr) return;
  map_row(y, y, bias, n, [](Floats v, Floats b) HWY_ATTR { return hn::Add(v, b); });
}

}  // namespace

const LayerNormTable& layer_norm_table() {
  static const LayerNormTable table = {row};
  return table;
}

}  // namespace tilewright::TW_ISA
