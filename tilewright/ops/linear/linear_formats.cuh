// SPDX-License-Identifier: Apache-2.0
// How stored weights are read: eight neighbours of a row as floats (load8), or, for linear_stream,
// a lane's share of a unit of 32 elements as tensor-core operands (fragment).
//
// A unit is two m16n8k16 products. Lane q of a quad owns eight of its elements, e0 … e7, two of
// each register; any assignment is right as long as x follows the same one (see stream_x.cuh):
//   plain formats   e_j = 8q + j                                  one 16-byte read
//   block formats   e_j = 16 (j / 4) + 4q + {0, 2, 1, 3}[j % 4]   two 4-byte reads, or the two
//                   nibbles of one; bytes b0 b2 and b1 b3 of a word share a register each
// Integers become bfloat16 by or-ing them into the mantissa of 128 and subtracting 128 exactly.
// Source of the block layouts: the GGUF specification.
#pragma once

#include "tilewright/device/core/types.h"
#include "tilewright/device/core/vec8.h"
#include "tilewright/device/ptx/memory.h"
#include "tilewright/device/ptx/mma.h"

namespace tilewright {

struct WeightFragment {
  uint32_t word[4];
  float scale[2];  // of the first and the second product
  float minimum;   // added to every element
};

namespace detail {

TW_DEVICE float read_half(const char* pointer) {
  return half_to_float(*reinterpret_cast<const uint16_t*>(pointer));
}

// Of any alignment: a stored row may start at any byte.
TW_DEVICE float read_half_bytes(const char* pointer) {
  return half_to_float(
      uint16_t(uint32_t(uint8_t(pointer[0])) | uint32_t(uint8_t(pointer[1])) << 8));
}

TW_DEVICE uint32_t read_word(const char* base, uint32_t offset) {  // aligned to 4 bytes
  return *reinterpret_cast<const uint32_t*>(base + offset);
}

// The four bytes at base + offset; base is aligned to 4, offset is even. Touches two words.
TW_DEVICE uint32_t read_word_even(const char* base, uint32_t offset) {
  const uint32_t* word = reinterpret_cast<const uint32_t*>(base + (offset & ~3u));
  return __funnelshift_r(word[0], word[1], (offset & 2u) * 8u);
}

// Low bytes of both halves of `word`, 0 … 127 each, less `bias` (two bfloat16 of 128 + bias).
TW_DEVICE uint32_t bytes_to_bf16x2(uint32_t word, uint32_t mask, uint32_t bias) {
  return ptx::sub_bf16x2((word & mask) | 0x43004300u, bias);
}

// Low bytes of both halves as signed integers: (128 + low seven bits) - (128 or 256, by the sign).
TW_DEVICE uint32_t signed_to_bf16x2(uint32_t word) {
  return ptx::sub_bf16x2((word & 0x007f007fu) | 0x43004300u, (word & 0x00800080u) | 0x43004300u);
}

// Nibbles of `word` (elements 0 … 15 low, 16 … 31 high) in the order of the block formats.
TW_DEVICE void nibbles_to_bf16(uint32_t word, uint32_t bias, uint32_t (&out)[4]) {
  out[0] = bytes_to_bf16x2(word, 0x000f000fu, bias);
  out[1] = bytes_to_bf16x2(word >> 8, 0x000f000fu, bias);
  out[2] = bytes_to_bf16x2(word >> 4, 0x000f000fu, bias);
  out[3] = bytes_to_bf16x2(word >> 12, 0x000f000fu, bias);
}

TW_DEVICE void nibbles8(const char* quants, int first, float (&value)[8]) {
  const int shift = first / 16 * 4;
  TW_UNROLL
  for (int i = 0; i < 8; ++i) {
    value[i] = float((uint8_t(quants[first % 16 + i]) >> shift) & 15);
  }
}

}  // namespace detail

// T is float, half or bf16.
template <class T>
struct PlainWeights {
  using Operand = T;
  static constexpr int kBlock = 1, kBlockBytes = sizeof(T);
  static constexpr bool kScaled = false, kMinimum = false, kWide = true;

  static TW_DEVICE void load8(const char* row, int64_t k, int64_t count, bool aligned,
                              float (&value)[8]) {
    const T* source = reinterpret_cast<const T*>(row) + k;
    if (aligned && count >= 8) {
      union {
        ptx::Word4 raw[sizeof(T) / 2];
        T element[8];
      } data;
      TW_UNROLL
      for (int i = 0; i < int(sizeof(T) / 2); ++i) {
        data.raw[i] = ptx::ld_global_stream(reinterpret_cast<const ptx::Word4*>(source) + i);
      }
      TW_UNROLL
      for (int i = 0; i < 8; ++i) value[i] = to_float(data.element[i]);
      return;
    }
    TW_UNROLL
    for (int i = 0; i < 8; ++i) value[i] = i < count ? to_float(source[i]) : 0.0f;
  }

  static TW_DEVICE void fragment(const char* row, uint32_t, int unit, int q, WeightFragment& out) {
    const ptx::Word4 raw = *reinterpret_cast<const ptx::Word4*>(row + unit * 64 + q * 16);
    TW_UNROLL
    for (int i = 0; i < 4; ++i) out.word[i] = raw.word[i];
  }
};

struct WeightsQ8_0 {
  using Operand = bf16;
  static constexpr int kBlock = 32, kBlockBytes = 34;
  static constexpr bool kScaled = true, kMinimum = false, kWide = false;

  static TW_DEVICE void load8(const char* row, int64_t k, int64_t, bool, float (&value)[8]) {
    const char* block = row + k / 32 * kBlockBytes;
    const float scale = detail::read_half_bytes(block);
    TW_UNROLL
    for (int i = 0; i < 8; ++i) value[i] = scale * float(int8_t(block[2 + k % 32 + i]));
  }

  static TW_DEVICE void fragment(const char* row, uint32_t skew, int unit, int q,
                                 WeightFragment& out) {
    const uint32_t block = skew + uint32_t(unit) * kBlockBytes;
    out.scale[0] = out.scale[1] = detail::read_half(row + block);
    TW_UNROLL
    for (int half = 0; half < 2; ++half) {
      const uint32_t word =
          detail::read_word_even(row, block + 2u + uint32_t(half) * 16u + uint32_t(q) * 4u);
      out.word[2 * half] = detail::signed_to_bf16x2(word);
      out.word[2 * half + 1] = detail::signed_to_bf16x2(word >> 8);
    }
  }
};

struct WeightsQ4_0 {
  using Operand = bf16;
  static constexpr int kBlock = 32, kBlockBytes = 18;
  static constexpr bool kScaled = true, kMinimum = false, kWide = false;

  static TW_DEVICE void load8(const char* row, int64_t k, int64_t, bool, float (&value)[8]) {
    const char* block = row + k / 32 * kBlockBytes;
    const float scale = detail::read_half_bytes(block);
    detail::nibbles8(block + 2, int(k % 32), value);
    TW_UNROLL
    for (int i = 0; i < 8; ++i) value[i] = scale * (value[i] - 8.0f);
  }

  static TW_DEVICE void fragment(const char* row, uint32_t skew, int unit, int q,
                                 WeightFragment& out) {
    const uint32_t block = skew + uint32_t(unit) * kBlockBytes;
    out.scale[0] = out.scale[1] = detail::read_half(row + block);
    const uint32_t word = detail::read_word_even(row, block + 2u + uint32_t(q) * 4u);
    detail::nibbles_to_bf16(word, 0x43084308u, out.word);  // 128 + 8
  }
};

struct WeightsQ4_1 {
  using Operand = bf16;
  static constexpr int kBlock = 32, kBlockBytes = 20;
  static constexpr bool kScaled = true, kMinimum = true, kWide = false;

  static TW_DEVICE void load8(const char* row, int64_t k, int64_t, bool, float (&value)[8]) {
    const char* block = row + k / 32 * kBlockBytes;
    const float scale = detail::read_half_bytes(block),
                minimum = detail::read_half_bytes(block + 2);
    detail::nibbles8(block + 4, int(k % 32), value);
    TW_UNROLL
    for (int i = 0; i < 8; ++i) value[i] = scale * value[i] + minimum;
  }

  static TW_DEVICE void fragment(const char* row, uint32_t skew, int unit, int q,
                                 WeightFragment& out) {
    const uint32_t block = skew + uint32_t(unit) * kBlockBytes;
    const uint32_t head = detail::read_word(row, block);
    out.scale[0] = out.scale[1] = detail::half_to_float(uint16_t(head & 0xffffu));
    out.minimum = detail::half_to_float(uint16_t(head >> 16));
    const uint32_t word = detail::read_word(row, block + 4u + uint32_t(q) * 4u);
    detail::nibbles_to_bf16(word, 0x43004300u, out.word);
  }
};

struct WeightsQ6K {
  using Operand = bf16;
  static constexpr int kBlock = 256, kBlockBytes = 210;
  static constexpr int kHigh = 128, kScales = 192, kFactor = 208;  // offsets in a block
  static constexpr bool kScaled = true, kMinimum = false, kWide = false;

  static TW_DEVICE void load8(const char* row, int64_t k, int64_t, bool, float (&value)[8]) {
    const char* block = row + k / 256 * kBlockBytes;
    const int half = int(k % 256) / 128, part = int(k % 128) / 32, first = int(k % 32);
    const char* low = block + half * 64 + (part & 1) * 32 + first;
    const char* high = block + kHigh + half * 32 + first;
    const int scale = int8_t(block[kScales + half * 8 + part * 2 + first / 16]);
    const float factor = detail::read_half_bytes(block + kFactor) * float(scale);
    TW_UNROLL
    for (int i = 0; i < 8; ++i) {
      const int nibble = (uint8_t(low[i]) >> (part / 2 * 4)) & 15;
      const int pair = (uint8_t(high[i]) >> (part * 2)) & 3;
      value[i] = factor * float((nibble | pair << 4) - 32);
    }
  }

  static TW_DEVICE void fragment(const char* row, uint32_t skew, int unit, int q,
                                 WeightFragment& out) {
    const uint32_t block = skew + uint32_t(unit / 8) * kBlockBytes;
    const uint32_t half = uint32_t(unit) / 4u % 2u, part = uint32_t(unit) % 4u;
    const float factor = detail::read_half(row + block + kFactor);
    const char* scales = row + block + kScales + half * 8u + part * 2u;
    TW_UNROLL
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t at = block + i * 16u + uint32_t(q) * 4u;
      const uint32_t low = detail::read_word_even(row, at + half * 64u + (part & 1u) * 32u);
      const uint32_t high = detail::read_word_even(row, at + kHigh + half * 32u);
      const uint32_t word =
          (low >> (part / 2u * 4u) & 0x0f0f0f0fu) | (high >> (part * 2u) & 0x03030303u) << 4;
      out.word[2 * i] = detail::bytes_to_bf16x2(word, 0x003f003fu, 0x43204320u);  // 128 + 32
      out.word[2 * i + 1] = detail::bytes_to_bf16x2(word >> 8, 0x003f003fu, 0x43204320u);
      out.scale[i] = factor * float(int8_t(scales[i]));
    }
  }
};

}  // namespace tilewright
