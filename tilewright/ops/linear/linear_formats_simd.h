// SPDX-License-Identifier: Apache-2.0
// For linear_blocks_simd.cpp: one struct a block format, all with the same members.
//   kBytes      of a block (q6_k: of the 256)        kMinimum  whether blocks have a minimum m
//   kZero       subtracted from what `dot` reads     kPanelZero  from what `pack` writes
//   scales/dot  8 rows straight from memory (kDirect)
//   pack        16 rows of block `at` to block `b` of a panel of kSteps steps
// Layouts: ops/_core/blocks.h.
#pragma once

#include <type_traits>

#include "tilewright/ops/linear/linear_panel_simd.h"

namespace tilewright {
namespace TW_ISA {
namespace {

#if defined(__AVX2__)

struct Q4_1 {
  using Sum = ByteSum;
  static constexpr int kBytes = 20, kSteps = 8, kZero = 0, kPanelZero = 0;
  static constexpr bool kMinimum = true, kDirect = true;
  TW_INLINE static ScalePair scales(const Byte* block, std::int64_t pitch) {
    return load_scale_pairs(block, pitch);
  }
  TW_INLINE static __m256i dot(const Byte* block, std::int64_t pitch, const std::int8_t* x) {
    return dot_rows_u4(block + 4, pitch, x);
  }
  TW_INLINE static void pack(const LinearGroup& group, std::int64_t at, Panel<8>& panel,
                             std::int64_t b) {
    for (int half = 0; half < 2; ++half) {
      const Byte* block =
          static_cast<const Byte*>(group.rows) + half * 8 * group.row_bytes + at * kBytes;
      const ScalePair d = scales(block, group.row_bytes);
      _mm256_store_ps(panel.scale[b] + half * 8, d.scale);
      _mm256_store_ps(panel.minimum[b] + half * 8, d.minimum);
      pack_nibbles(block + 4, group.row_bytes, panel.steps[b][0] + half * 32);
    }
  }
};

struct Q4_0 {
  using Sum = ByteSum;
  static constexpr int kBytes = 18, kSteps = 8, kZero = 8, kPanelZero = 8;
  static constexpr bool kMinimum = false, kDirect = true;
  TW_INLINE static ScalePair scales(const Byte* block, std::int64_t pitch) {
    return {load_scales(block, pitch), _mm256_setzero_ps()};
  }
  TW_INLINE static __m256i dot(const Byte* block, std::int64_t pitch, const std::int8_t* x) {
    return dot_rows_u4(block + 2, pitch, x);
  }
  TW_INLINE static void pack(const LinearGroup& group, std::int64_t at, Panel<8>& panel,
                             std::int64_t b) {
    for (int half = 0; half < 2; ++half) {
      const Byte* block =
          static_cast<const Byte*>(group.rows) + half * 8 * group.row_bytes + at * kBytes;
      _mm256_store_ps(panel.scale[b] + half * 8, load_scales(block, group.row_bytes));
      pack_nibbles(block + 2, group.row_bytes, panel.steps[b][0] + half * 32);
    }
  }
};

// 8 rows of 32 signed bytes as 16-bit numbers.
TW_INLINE void pack_words(const std::int16_t (&words)[8][32], Byte* to) {
  pack_bytes<4>(reinterpret_cast<const Byte*>(words), 64, 0, to);
}

TW_INLINE void widen32(__m256i bytes, std::int16_t* words) {
  const __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), _mm256_cvtepi8_epi16(low));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + 16), _mm256_cvtepi8_epi16(high));
}

struct Q8_0 {
  using Sum = std::conditional_t<kWideBytes, WordSum, ByteSum>;
  static constexpr int kBytes = 34, kSteps = kWideBytes ? 16 : 8, kZero = 0;
  static constexpr int kPanelZero = kWideBytes ? 0 : 128;
  static constexpr bool kMinimum = false, kDirect = true;
  TW_INLINE static ScalePair scales(const Byte* block, std::int64_t pitch) {
    return {load_scales(block, pitch), _mm256_setzero_ps()};
  }
  TW_INLINE static __m256i dot(const Byte* block, std::int64_t pitch, const std::int8_t* x) {
    return dot_rows_i8(block + 2, pitch, x);
  }
  TW_INLINE static void pack(const LinearGroup& group, std::int64_t at, Panel<kSteps>& panel,
                             std::int64_t b) {
    for (int half = 0; half < 2; ++half) {
      const Byte* block =
          static_cast<const Byte*>(group.rows) + half * 8 * group.row_bytes + at * kBytes;
      _mm256_store_ps(panel.scale[b] + half * 8, load_scales(block, group.row_bytes));
      Byte* to = panel.steps[b][0] + half * 32;
      if constexpr (kWideBytes) {
        std::int16_t words[8][32];
        for (int r = 0; r < 8; ++r) widen32(load32(block + 2 + r * group.row_bytes), words[r]);
        pack_words(words, to);
      } else {
        pack_bytes<2>(block + 2, group.row_bytes, 0x80, to);
      }
    }
  }
};

struct Q6K {
  using Sum = WordSum;
  static constexpr int kBytes = 210, kSteps = 16, kZero = 0, kPanelZero = 0;
  static constexpr bool kMinimum = false, kDirect = false;

  // Run `run` of 32 elements of a block of 256, each times its scale: within 32 * 128.
  TW_INLINE static void unpack(const Byte* block, int run, std::int16_t* words) {
    const int part = run / 4, place = run % 4;
    const __m256i low_bytes = load32(block + part * 64 + place % 2 * 32);
    const __m256i high_bytes = load32(block + 128 + part * 32);
    const __m256i low = _mm256_and_si256(
        _mm256_srl_epi16(low_bytes, _mm_cvtsi32_si128(place / 2 * 4)), _mm256_set1_epi8(15));
    const __m256i high = _mm256_and_si256(
        _mm256_srl_epi16(high_bytes, _mm_cvtsi32_si128(place * 2)), _mm256_set1_epi8(3));
    const __m256i values =
        _mm256_sub_epi8(_mm256_or_si256(low, _mm256_slli_epi16(high, 4)), _mm256_set1_epi8(32));
    widen32(values, words);
    const std::int8_t* scales = reinterpret_cast<const std::int8_t*>(block + 192) + run * 2;
    for (int i = 0; i < 2; ++i) {
      __m256i* at = reinterpret_cast<__m256i*>(words + i * 16);
      _mm256_storeu_si256(at,
                          _mm256_mullo_epi16(_mm256_loadu_si256(at), _mm256_set1_epi16(scales[i])));
    }
  }

  TW_INLINE static void pack(const LinearGroup& group, std::int64_t at, Panel<16>& panel,
                             std::int64_t b) {
    for (int half = 0; half < 2; ++half) {
      std::int16_t words[8][32];
      for (int r = 0; r < 8; ++r) {
        const Byte* block = static_cast<const Byte*>(group.rows) +
                            (half * 8 + r) * group.row_bytes + at / 8 * kBytes;
        unpack(block, int(at % 8), words[r]);
        std::uint16_t d;
        __builtin_memcpy(&d, block + 208, sizeof(d));
        panel.scale[b][half * 8 + r] = _cvtsh_ss(d);
      }
      pack_words(words, panel.steps[b][0] + half * 32);
    }
  }
};

#else

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

#endif

}  // namespace
}  // namespace TW_ISA
}  // namespace tilewright
