// SPDX-License-Identifier: Apache-2.0
// For linear_blocks_simd.cpp: one struct a block format, all with the same members.
//   kBytes      of a block (q6_k: of the 256)        kMinimum  whether blocks have a minimum m
//   kZero       subtracted from what `dot` and a panel of words read
//   kByteZero   subtracted from what a panel of bytes reads; -1: x of 8 bits takes words too
//   kRuns       blocks of x in a block of w
//   scales/dot  8 rows straight from memory, x of 8 or 16 bits; `run` says which of the kRuns
//   pack        16 rows of block `at` to block `b` of a panel, of bytes (8 steps) or words (16)
// Layouts: ops/_core/blocks.h.
#pragma once

#include <type_traits>

#include "tilewright/ops/linear/linear_panel_simd.h"

#if defined(__AVX2__)
namespace tilewright {
namespace TW_ISA {
namespace {

struct Q4_1 {
  static constexpr int kBytes = 20, kRuns = 1, kZero = 0, kByteZero = 0;
  static constexpr bool kMinimum = true;
  TW_INLINE static ScalePair scales(const Byte* block, std::int64_t pitch) {
    return load_scale_pairs(block, pitch);
  }
  template <class Element>
  TW_INLINE static __m256i dot(const Byte* block, std::int64_t pitch, int, const Element* x) {
    return dot_rows_u4(block + 4, pitch, x);
  }
  template <int kSteps>
  TW_INLINE static void pack(const LinearGroup& group, std::int64_t at, Panel<kSteps>& panel,
                             std::int64_t b) {
    for (int half = 0; half < 2; ++half) {
      const Byte* block =
          static_cast<const Byte*>(group.rows) + half * 8 * group.row_bytes + at * kBytes;
      const ScalePair d = scales(block, group.row_bytes);
      _mm256_store_ps(panel.scale[b] + half * 8, d.scale);
      _mm256_store_ps(panel.minimum[b] + half * 8, d.minimum);
      pack_nibbles<kSteps>(block + 4, group.row_bytes, panel.steps[b][0] + half * 32);
    }
  }
};

struct Q4_0 {
  static constexpr int kBytes = 18, kRuns = 1, kZero = 8, kByteZero = 8;
  static constexpr bool kMinimum = false;
  TW_INLINE static ScalePair scales(const Byte* block, std::int64_t pitch) {
    return {load_scales(block, pitch), _mm256_setzero_ps()};
  }
  template <class Element>
  TW_INLINE static __m256i dot(const Byte* block, std::int64_t pitch, int, const Element* x) {
    return dot_rows_u4(block + 2, pitch, x);
  }
  template <int kSteps>
  TW_INLINE static void pack(const LinearGroup& group, std::int64_t at, Panel<kSteps>& panel,
                             std::int64_t b) {
    for (int half = 0; half < 2; ++half) {
      const Byte* block =
          static_cast<const Byte*>(group.rows) + half * 8 * group.row_bytes + at * kBytes;
      _mm256_store_ps(panel.scale[b] + half * 8, load_scales(block, group.row_bytes));
      pack_nibbles<kSteps>(block + 2, group.row_bytes, panel.steps[b][0] + half * 32);
    }
  }
};

struct Q8_0 {
  static constexpr int kBytes = 34, kRuns = 1, kZero = 0, kByteZero = kBytesSaturate ? -1 : 128;
  static constexpr bool kMinimum = false;
  TW_INLINE static ScalePair scales(const Byte* block, std::int64_t pitch) {
    return {load_scales(block, pitch), _mm256_setzero_ps()};
  }
  template <class Element>
  TW_INLINE static __m256i dot(const Byte* block, std::int64_t pitch, int, const Element* x) {
    return dot_rows_i8(block + 2, pitch, x);
  }
  template <int kSteps>
  TW_INLINE static void pack(const LinearGroup& group, std::int64_t at, Panel<kSteps>& panel,
                             std::int64_t b) {
    for (int half = 0; half < 2; ++half) {
      const Byte* block =
          static_cast<const Byte*>(group.rows) + half * 8 * group.row_bytes + at * kBytes;
      _mm256_store_ps(panel.scale[b] + half * 8, load_scales(block, group.row_bytes));
      Byte* to = panel.steps[b][0] + half * 32;
      if constexpr (kSteps == 16) {
        pack_split_bytes(block + 2, group.row_bytes, to);
      } else {
        pack_bytes<2>(block + 2, group.row_bytes, 0x80, to);
      }
    }
  }
};

struct Q6K {
  static constexpr int kBytes = 210, kRuns = 8, kZero = 0, kByteZero = -1;
  static constexpr bool kMinimum = false;

  TW_INLINE static ScalePair scales(const Byte* block, std::int64_t pitch) {
    alignas(32) float d[8];
    for (int r = 0; r < 8; ++r) d[r] = scale_of(block + r * pitch);
    return {_mm256_load_ps(d), _mm256_setzero_ps()};
  }

  TW_INLINE static float scale_of(const Byte* block) {
    std::uint16_t d;
    __builtin_memcpy(&d, block + 208, sizeof(d));
    return _cvtsh_ss(d);
  }

  // Run `run` of 32 elements of a block of 256, as signed bytes -32..31.
  TW_INLINE static __m256i values(const Byte* block, int run) {
    const int part = run / 4, place = run % 4;
    const __m256i low_bytes = load32(block + part * 64 + place % 2 * 32);
    const __m256i high_bytes = load32(block + 128 + part * 32);
    const __m256i low = _mm256_and_si256(
        _mm256_srl_epi16(low_bytes, _mm_cvtsi32_si128(place / 2 * 4)), _mm256_set1_epi8(15));
    const __m256i high = _mm256_and_si256(
        _mm256_srl_epi16(high_bytes, _mm_cvtsi32_si128(place * 2)), _mm256_set1_epi8(3));
    return _mm256_sub_epi8(_mm256_or_si256(low, _mm256_slli_epi16(high, 4)), _mm256_set1_epi8(32));
  }

  TW_INLINE static __m256i two_scales(const Byte* block, int run) {
    const std::int8_t* scales = reinterpret_cast<const std::int8_t*>(block + 192) + run * 2;
    return _mm256_set_m128i(_mm_set1_epi16(scales[1]), _mm_set1_epi16(scales[0]));
  }

  // 8 partial sums of one row, its two scales multiplied in.
  TW_INLINE static __m256i dot_row(const Byte* block, int run, __m256i x, __m256i x_magnitude) {
    const __m256i pairs =
        _mm256_maddubs_epi16(x_magnitude, _mm256_sign_epi8(values(block, run), x));
    return _mm256_madd_epi16(pairs, two_scales(block, run));
  }

  TW_INLINE static __m256i dot(const Byte* block, std::int64_t pitch, int run,
                               const std::int8_t* x) {
    const __m256i bytes = load32(x), magnitude = _mm256_abs_epi8(bytes);
    __m256i rows[8];
    for (int r = 0; r < 8; ++r) rows[r] = dot_row(block + r * pitch, run, bytes, magnitude);
    return sum_rows(rows);
  }

  // The run times its scales (within 32 * 128), even elements and odd ones.
  struct Words {
    __m256i even, odd;
  };
  TW_INLINE static Words words(const Byte* block, int run) {
    const __m256i bytes = values(block, run);
    const __m256i scales = two_scales(block, run);
    return {_mm256_mullo_epi16(even_bytes(bytes), scales),
            _mm256_mullo_epi16(odd_bytes(bytes), scales)};
  }

  TW_INLINE static __m256i dot(const Byte* block, std::int64_t pitch, int run,
                               const std::int16_t* x) {
    const __m256i even = load32(x), odd = load32(x + 16);
    __m256i rows[8];
    for (int r = 0; r < 8; ++r) {
      const Words w = words(block + r * pitch, run);
      rows[r] = _mm256_add_epi32(_mm256_madd_epi16(w.even, even), _mm256_madd_epi16(w.odd, odd));
    }
    return sum_rows(rows);
  }

  TW_INLINE static void pack(const LinearGroup& group, std::int64_t at, Panel<16>& panel,
                             std::int64_t b) {
    for (int half = 0; half < 2; ++half) {
      alignas(32) __m256i rows[8][2];
      for (int r = 0; r < 8; ++r) {
        const Byte* block = static_cast<const Byte*>(group.rows) +
                            (half * 8 + r) * group.row_bytes + at / 8 * kBytes;
        const Words w = words(block, int(at % 8));
        rows[r][0] = w.even;
        rows[r][1] = w.odd;
        panel.scale[b][half * 8 + r] = scale_of(block);
      }
      pack_bytes<4>(reinterpret_cast<const Byte*>(rows), 64, 0, panel.steps[b][0] + half * 32);
    }
  }
};

}  // namespace
}  // namespace TW_ISA
}  // namespace tilewright
#endif  // __AVX2__
