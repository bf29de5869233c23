// SPDX-License-Identifier: Apache-2.0
// What linear_*_simd.cpp export for each instruction set. A group is 16 rows of a weight; `out` is
// [tokens, 16]. Every output is the sum of the same terms in the same order whatever the number of
// tokens (docs: NOTES.md, "Order of additions").
#pragma once

#include <cstdint>

#include "tilewright/ops/_core/isa_table.h"

namespace tilewright {

inline constexpr std::int64_t kLinearRows = 16;   // rows of a group
inline constexpr std::int64_t kLinearBlock = 32;  // elements of x that share a scale

enum class LinearBlockFormat { kQ8_0, kQ4_0, kQ4_1, kQ6K };
enum class LinearPlainFormat { kF32, kF16, kBf16 };

// The integer that the largest |x| of a block becomes. With 16256 = 127 * 128 the 32 products of a
// block and their sum fit 32 bits for every format, q6_k's 6-bit values times 8-bit scales too.
inline constexpr int kEightBitLevels = 127, kSixteenBitLevels = 16256;

// x rounded in blocks: x = scale * q. A block with an infinity or a NaN has q = 0, scale NaN.
struct RoundedX {
  std::int8_t* q = nullptr;       // [tokens, k], 8 bits; null in the 16-bit form
  std::int16_t* words = nullptr;  // [tokens, k], q as 16 bits: a block's even elements, then its
                                  // odd ones; null when 8 bits are enough for every weight
  float* scale = nullptr;         // [tokens, k / 32]
  float* offset = nullptr;        // [tokens, k / 32]: scale * total
  std::int32_t* total = nullptr;  // [tokens, k / 32]: sum of q
  std::int64_t k = 0;

  bool sixteen_bit() const { return q == nullptr; }
};

struct LinearGroup {
  const void* rows = nullptr;
  std::int64_t row_bytes = 0;
};

struct LinearBlockTable {
  // Scratch that `multiply` needs, bytes.
  std::int64_t scratch_bytes;
  // Whether `multiply` reads RoundedX::words beside q in the 8-bit form.
  bool (*wants_words)(LinearBlockFormat format, std::int64_t tokens);
  void (*multiply)(LinearBlockFormat format, const LinearGroup& group, const RoundedX& x,
                   std::int64_t first_token, std::int64_t tokens, float* out, void* scratch);
};
TW_ISA_TABLE(LinearBlockTable, linear_block_table)

struct LinearPlainTable {
  std::int64_t scratch_bytes;
  // x: [tokens, k], rows x_stride apart.
  void (*multiply)(LinearPlainFormat format, const LinearGroup& group, const float* x,
                   std::int64_t x_stride, std::int64_t k, std::int64_t tokens, float* out,
                   void* scratch);
};
TW_ISA_TABLE(LinearPlainTable, linear_plain_table)

struct LinearRowTable {
  // out[i] = x[i] / sqrt(mean(x^2) + eps) * weight[i]; out may be x.
  void (*rms_norm)(const float* x, const float* weight, float eps, float* out, std::int64_t k);
  // Fills row `token` of `out` (k fills whole blocks). 8 bits: scale and offset are rounded to f16,
  // as GGUF's q8_0 and q8_1 hold them, unless that makes them infinite.
  void (*round)(const float* x, std::int64_t token, const RoundedX& out);
  // out[i] = gate[i] / (1 + exp(-gate[i])) * up[i]; out may be gate or up.
  void (*silu_mul)(const float* gate, const float* up, float* out, std::int64_t n);
};
TW_ISA_TABLE(LinearRowTable, linear_row_table)

}  // namespace tilewright
