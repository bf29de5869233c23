// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/simd.h"
#include "tilewright/ops/softmax/softmax_table.h"

namespace tilewright::TW_ISA {
namespace {

constexpr float kMinusInfinity = -__builtin_inff();

// NaN may be missed: it is found again by the sum.
float maximum(const float* x, std::int64_t n) {
  Floats first = hn::Set(kFloats, kMinusInfinity), second = first;
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    first = hn::Max(first, hn::LoadU(kFloats, x + i));
    second = hn::Max(second, hn::LoadU(kFloats, x + i + kLanes));
  }
  float largest = hn::GetLane(hn::MaxOfLanes(kFloats, hn::Max(first, second)));
  for (; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

// y = exp(x - center); returns the sum.
float exponentials(const float* x, float* y, std::int64_t n, float center) {
  const Floats shift = hn::Set(kFloats, center);
  Floats sum = hn::Zero(kFloats);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Floats value = exp_floats(hn::Sub(hn::LoadU(kFloats, x + i), shift));
    hn::StoreU(value, kFloats, y + i);
    sum = hn::Add(sum, value);
  }
  if (i < n) {
    const Floats rest = load_some_floats<Storage::kF32>(x, i, n - i);
    const auto kept = hn::FirstN(kFloats, std::size_t(n - i));
    const Floats value = hn::IfThenElseZero(kept, exp_floats(hn::Sub(rest, shift)));
    store_some_floats(value, y + i, n - i);
    sum = hn::Add(sum, value);
  }
  return hn::GetLane(hn::SumOfLanes(kFloats, sum));
}

void row(const float* x, float* y, std::int64_t n) {
  const float largest = maximum(x, n);
  // A row of -inf: exp(-inf - 0) = 0 everywhere, and 0/1 keeps it.
  const float sum = exponentials(x, y, n, largest == kMinusInfinity ? 0.0f : largest);
  const Floats factor = hn::Set(kFloats, sum == 0.0f ? 1.0f : 1.0f / sum);
  map_row(y, y, n, [&](Floats value) HWY_ATTR { return hn::Mul(value, factor); });
}

}  // namespace

const SoftmaxTable& softmax_table() {
  static const SoftmaxTable table = {row};
  return table;
}

}  // namespace tilewright::TW_ISA
