// SPDX-License-Identifier: Apache-2.0
// Matrix products of a warp, D = A * B + D. With g = lane / 4 and q = lane % 4, registers hold:
//   A (16 x 16, two neighbours in k a register): (g, 2q), (g + 8, 2q), (g, 2q + 8), (g + 8, 2q + 8)
//   B (16 x 8): k = 2q and 2q + 8 of column g
//   D (16 x 8): (g, 2q), (g, 2q + 1), (g + 8, 2q), (g + 8, 2q + 1)
// sm_80 and later.
#pragma once

#include "tilewright/device/core/types.h"

namespace tilewright::ptx {

TW_DEVICE void mma_m16n8k16(bf16, float (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                            uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

TW_DEVICE void mma_m16n8k16(half, float (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                            uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Two floats rounded to bfloat16, the first in the low half.
TW_DEVICE uint32_t pack_bf16x2(float low, float high) {
  uint32_t result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

// Exact for values whose difference is representable. sm_90.
TW_DEVICE uint32_t sub_bf16x2(uint32_t a, uint32_t b) {
  uint32_t result;
  asm("sub.rn.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}

}  // namespace tilewright::ptx
