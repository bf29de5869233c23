// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/simd.h"
#include "tilewright/ops/silu_mul/silu_mul_table.h"

namespace tilewright::TW_ISA {
namespace {

void row(const float* gate, const float* up, float* y, std::int64_t n) {
  const Floats one = hn::Set(kFloats, 1.0f);
  map_row(y, gate, up, n, [&](Floats g, Floats u) HWY_ATTR {
    // Where exp(-g) is infinite the quotient is 0, also for g = -inf.
    const Floats unit = hn::Div(g, hn::Add(one, exp_floats(hn::Neg(g))));
    const Floats silu = hn::IfThenZeroElse(hn::Lt(g, hn::Set(kFloats, -90.0f)), unit);
    return hn::Mul(silu, u);
  });
}

}  // namespace

const SiluMulTable& silu_mul_table() {
  static const SiluMulTable table = {row};
  return table;
}

}  // namespace tilewright::TW_ISA
