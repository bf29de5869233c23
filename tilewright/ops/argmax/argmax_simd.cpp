// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/simd.h"
#include "tilewright/ops/argmax/argmax_table.h"

namespace tilewright::TW_ISA {
namespace {

struct Summary {
  float largest;  // of the numbers
  bool has_nan;
};

Summary summarise(const float* x, std::int64_t n) {
  Floats largest = hn::Set(kFloats, -__builtin_inff());
  Floats nan = hn::Zero(kFloats);  // becomes NaN, and stays so, when one is met
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Floats v = hn::LoadU(kFloats, x + i);
    largest = hn::IfThenElse(hn::Gt(v, largest), v, largest);
    nan = hn::IfThenElse(hn::IsNaN(v), v, nan);
  }
  Summary summary = {hn::GetLane(hn::MaxOfLanes(kFloats, largest)),
                     !hn::AllFalse(kFloats, hn::IsNaN(nan))};
  for (; i < n; ++i) {
    if (x[i] > summary.largest) summary.largest = x[i];
    summary.has_nan |= x[i] != x[i];
  }
  return summary;
}

std::int64_t row(const float* x, std::int64_t n) {
  const Summary summary = summarise(x, n);
  const Floats largest = hn::Set(kFloats, summary.largest);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Floats v = hn::LoadU(kFloats, x + i);
    const auto found = summary.has_nan ? hn::IsNaN(v) : hn::Eq(v, largest);
    const std::intptr_t lane = hn::FindFirstTrue(kFloats, found);
    if (lane >= 0) return i + lane;
  }
  for (; i < n; ++i) {
    if (summary.has_nan ? x[i] != x[i] : x[i] == summary.largest) return i;
  }
  return 0;
}

}  // namespace

const ArgmaxTable& argmax_table() {
  static const ArgmaxTable table = {row};
  return table;
}

}  // namespace tilewright::TW_ISA
