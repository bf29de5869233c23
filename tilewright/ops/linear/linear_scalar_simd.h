// SPDX-License-Identifier: Apache-2.0
// For linear_blocks_simd.cpp without AVX2: one struct a block format, whose `load` gives block `at`
// of a row of blocks of 32 elements. Layouts: ops/_core/blocks.h.
#pragma once

#include <cstdint>

#if !defined(__AVX2__)
namespace tilewright {
namespace TW_ISA {
namespace {

using Byte = std::uint8_t;

// 32 elements: value = scale * values[i] + minimum.
struct PlainBlock {
  std::int16_t values[32];
  float scale, minimum;
};

inline float half_at(const Byte* at) {
  std::uint16_t bits;
  __builtin_memcpy(&bits, at, sizeof(bits));
  const std::uint32_t rest = bits & 0x7fffu, sign = std::uint32_t(bits & 0x8000u) << 16;
  const std::uint32_t scaled = rest << 13;
  float value;
  __builtin_memcpy(&value, &scaled, sizeof(value));
  value *= 0x1p112f;
  std::uint32_t magnitude;
  __builtin_memcpy(&magnitude, &value, sizeof(magnitude));
  if (rest >= 0x7c00u) magnitude = scaled | 0x7f800000u;
  magnitude |= sign;
  __builtin_memcpy(&value, &magnitude, sizeof(value));
  return value;
}

inline std::int32_t dot(const std::int16_t* w, const std::int8_t* x) {
  std::int32_t sum = 0;
  for (int i = 0; i < 32; ++i) sum += w[i] * x[i];
  return sum;
}

// x: even elements, then odd ones.
inline std::int32_t dot_split(const std::int16_t* w, const std::int16_t* x) {
  std::int32_t sum = 0;
  for (int i = 0; i < 32; ++i) sum += w[i] * x[i % 2 * 16 + i / 2];
  return sum;
}

inline void split_nibbles(const Byte* nibbles, int zero, std::int16_t* values) {
  for (int i = 0; i < 16; ++i) {
    values[i] = std::int16_t((nibbles[i] & 15) - zero);
    values[i + 16] = std::int16_t((nibbles[i] >> 4) - zero);
  }
}

struct Q4_1 {
  static PlainBlock load(const Byte* row, std::int64_t at) {
    const Byte* block = row + at * 20;
    PlainBlock out{{}, half_at(block), half_at(block + 2)};
    split_nibbles(block + 4, 0, out.values);
    return out;
  }
};

struct Q4_0 {
  static PlainBlock load(const Byte* row, std::int64_t at) {
    const Byte* block = row + at * 18;
    PlainBlock out{{}, half_at(block), 0};
    split_nibbles(block + 2, 8, out.values);
    return out;
  }
};

struct Q8_0 {
  static PlainBlock load(const Byte* row, std::int64_t at) {
    const Byte* block = row + at * 34;
    PlainBlock out{{}, half_at(block), 0};
    for (int i = 0; i < 32; ++i) out.values[i] = std::int8_t(block[2 + i]);
    return out;
  }
};

struct Q6K {
  static PlainBlock load(const Byte* row, std::int64_t at) {
    const Byte* block = row + at / 8 * 210;
    const int run = int(at % 8), part = run / 4, place = run % 4;
    PlainBlock out{{}, half_at(block + 208), 0};
    for (int i = 0; i < 32; ++i) {
      const int low = block[part * 64 + place % 2 * 32 + i] >> (place / 2 * 4) & 15;
      const int high = block[128 + part * 32 + i] >> (place * 2) & 3;
      const int scale = std::int8_t(block[192 + run * 2 + i / 16]);
      out.values[i] = std::int16_t(((low | high << 4) - 32) * scale);
    }
    return out;
  }
};

}  // namespace
}  // namespace TW_ISA
}  // namespace tilewright
#endif  // !__AVX2__
