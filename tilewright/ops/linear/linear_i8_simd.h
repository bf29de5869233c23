// SPDX-License-Identifier: Apache-2.0
// For linear_blocks_simd.cpp: 8 rows of one 32-element block at a time, in AVX2 registers. Rows are
// `pitch` bytes apart. Names: a "pair" register has row i in its low half and row i + 4 in its high
// half, so that what the halves' unpacks leave is in the order of the rows.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>

#include <cstdint>

namespace tilewright {
namespace TW_ISA {
namespace {

using Byte = std::uint8_t;
using I8x32 = __m256i;

#define TW_INLINE inline __attribute__((always_inline))

TW_INLINE __m256i load_pair(const Byte* row, std::int64_t pitch) {
  const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row));
  const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + 4 * pitch));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

TW_INLINE __m256i load32(const void* at) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}

TW_INLINE __m256i broadcast16(const void* at) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(at)));
}

TW_INLINE __m256 floats_of_halves(__m128i halves) { return _mm256_cvtph_ps(halves); }

// The first 16-bit word of 8 blocks as floats.
TW_INLINE __m256 load_scales(const Byte* block, std::int64_t pitch) {
  const __m256i a = load_pair(block, pitch), b = load_pair(block + pitch, pitch);
  const __m256i c = load_pair(block + 2 * pitch, pitch), d = load_pair(block + 3 * pitch, pitch);
  const __m256i words =
      _mm256_unpacklo_epi32(_mm256_unpacklo_epi16(a, b), _mm256_unpacklo_epi16(c, d));
  return floats_of_halves(_mm256_castsi256_si128(_mm256_permute4x64_epi64(words, 0x08)));
}

struct ScalePair {
  __m256 scale, minimum;
};

// The first two 16-bit words of 8 blocks as floats.
TW_INLINE ScalePair load_scale_pairs(const Byte* block, std::int64_t pitch) {
  const __m256i a = load_pair(block, pitch), b = load_pair(block + pitch, pitch);
  const __m256i c = load_pair(block + 2 * pitch, pitch), d = load_pair(block + 3 * pitch, pitch);
  const __m256i both =
      _mm256_unpacklo_epi64(_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
  const __m256i sort =
      broadcast16("\x00\x01\x04\x05\x08\x09\x0c\x0d\x02\x03\x06\x07\x0a\x0b\x0e\x0f");
  const __m256i words = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(both, sort), 0xd8);
  return {floats_of_halves(_mm256_castsi256_si128(words)),
          floats_of_halves(_mm256_extracti128_si256(words, 1))};
}

// Nibbles (low: elements 0..15, high: 16..31) of a pair of rows against the same x.
TW_INLINE __m256i dot_nibbles(__m256i nibbles, __m256i x_low, __m256i x_high) {
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i low = _mm256_and_si256(nibbles, mask);
  const __m256i high = _mm256_and_si256(_mm256_srli_epi16(nibbles, 4), mask);
  return _mm256_add_epi16(_mm256_maddubs_epi16(low, x_low), _mm256_maddubs_epi16(high, x_high));
}

// Sums of neighbours until each of the 8 rows (4 pairs) has one number. No 16-bit sum overflows:
// 16 products of at most 15 * 127.
TW_INLINE __m256i sum_pairs(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i ab = _mm256_add_epi16(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
  const __m256i cd = _mm256_add_epi16(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
  const __m256i all =
      _mm256_add_epi16(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
  return _mm256_madd_epi16(all, _mm256_set1_epi16(1));
}

// 8 rows of nibbles against the block of x.
TW_INLINE __m256i dot_rows_u4(const Byte* nibbles, std::int64_t pitch, const std::int8_t* x) {
  const __m256i x_low = broadcast16(x), x_high = broadcast16(x + 16);
  return sum_pairs(dot_nibbles(load_pair(nibbles, pitch), x_low, x_high),
                   dot_nibbles(load_pair(nibbles + pitch, pitch), x_low, x_high),
                   dot_nibbles(load_pair(nibbles + 2 * pitch, pitch), x_low, x_high),
                   dot_nibbles(load_pair(nibbles + 3 * pitch, pitch), x_low, x_high));
}

// Signed bytes: |w| * (x with the sign of w). -128 is right too, as the unsigned 128.
TW_INLINE __m256i dot_bytes(const Byte* row, __m256i x) {
  const __m256i w = load32(row);
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
  return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

TW_INLINE __m256i add_unpacked32(__m256i a, __m256i b) {
  return _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}

TW_INLINE __m256i add_unpacked64(__m256i a, __m256i b) {
  return _mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

// The even and the odd ones of 32 signed bytes, as 16-bit numbers.
TW_INLINE __m256i even_bytes(__m256i bytes) {
  return _mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8);
}
TW_INLINE __m256i odd_bytes(__m256i bytes) { return _mm256_srai_epi16(bytes, 8); }

// Nibbles of a pair of rows against 16-bit x: a 16-bit lane holds elements 2i, 2i + 16, 2i + 1 and
// 2i + 17. Four sums a row.
struct SplitWords {
  __m256i even_low, even_high, odd_low, odd_high;
};
TW_INLINE __m256i dot_nibbles(__m256i nibbles, const SplitWords& x) {
  const __m256i mask = _mm256_set1_epi16(15);
  const __m256i even_low = _mm256_and_si256(nibbles, mask);
  const __m256i even_high = _mm256_and_si256(_mm256_srli_epi16(nibbles, 4), mask);
  const __m256i odd_low = _mm256_and_si256(_mm256_srli_epi16(nibbles, 8), mask);
  const __m256i odd_high = _mm256_srli_epi16(nibbles, 12);
  const __m256i even = _mm256_add_epi32(_mm256_madd_epi16(even_low, x.even_low),
                                        _mm256_madd_epi16(even_high, x.even_high));
  const __m256i odd = _mm256_add_epi32(_mm256_madd_epi16(odd_low, x.odd_low),
                                       _mm256_madd_epi16(odd_high, x.odd_high));
  return _mm256_add_epi32(even, odd);
}

// 8 rows of nibbles against a block of RoundedX::words.
TW_INLINE __m256i dot_rows_u4(const Byte* nibbles, std::int64_t pitch, const std::int16_t* words) {
  const SplitWords x{broadcast16(words), broadcast16(words + 8), broadcast16(words + 16),
                     broadcast16(words + 24)};
  const __m256i a = dot_nibbles(load_pair(nibbles, pitch), x);
  const __m256i b = dot_nibbles(load_pair(nibbles + pitch, pitch), x);
  const __m256i c = dot_nibbles(load_pair(nibbles + 2 * pitch, pitch), x);
  const __m256i d = dot_nibbles(load_pair(nibbles + 3 * pitch, pitch), x);
  return add_unpacked64(add_unpacked32(a, b), add_unpacked32(c, d));
}

// One number for each of 8 rows of 8 partial sums.
TW_INLINE __m256i sum_rows(const __m256i (&v)[8]) {
  const __m256i first = add_unpacked64(add_unpacked32(v[0], v[1]), add_unpacked32(v[2], v[3]));
  const __m256i second = add_unpacked64(add_unpacked32(v[4], v[5]), add_unpacked32(v[6], v[7]));
  return _mm256_add_epi32(_mm256_permute2x128_si256(first, second, 0x20),
                          _mm256_permute2x128_si256(first, second, 0x31));
}

TW_INLINE __m256i dot_rows_i8(const Byte* bytes, std::int64_t pitch, const std::int8_t* x) {
  const __m256i values = load32(x);
  __m256i rows[8];
  for (int r = 0; r < 8; ++r) rows[r] = dot_bytes(bytes + r * pitch, values);
  return sum_rows(rows);
}

TW_INLINE __m256i widen16(const void* bytes) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(bytes)));
}

// 8 rows of signed bytes against a block of RoundedX::words.
TW_INLINE __m256i dot_rows_i8(const Byte* bytes, std::int64_t pitch, const std::int16_t* words) {
  const __m256i even = load32(words), odd = load32(words + 16);
  const __m256i low = _mm256_unpacklo_epi16(even, odd), high = _mm256_unpackhi_epi16(even, odd);
  const __m256i first = _mm256_permute2x128_si256(low, high, 0x20);
  const __m256i second = _mm256_permute2x128_si256(low, high, 0x31);
  __m256i rows[8];
  for (int r = 0; r < 8; ++r) {
    const Byte* row = bytes + r * pitch;
    rows[r] = _mm256_add_epi32(_mm256_madd_epi16(widen16(row), first),
                               _mm256_madd_epi16(widen16(row + 16), second));
  }
  return sum_rows(rows);
}

// 4 pairs of rows, 16 bytes each, to 4 registers: register j has bytes 4j..4j+3 of rows 0..7.
TW_INLINE void transpose_pairs(__m256i (&v)[4]) {
  const __m256i a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpacklo_epi32(v[2], v[3]);
  const __m256i c = _mm256_unpackhi_epi32(v[0], v[1]), d = _mm256_unpackhi_epi32(v[2], v[3]);
  v[0] = _mm256_unpacklo_epi64(a, b);
  v[1] = _mm256_unpackhi_epi64(a, b);
  v[2] = _mm256_unpacklo_epi64(c, d);
  v[3] = _mm256_unpackhi_epi64(c, d);
}

}  // namespace
}  // namespace TW_ISA
}  // namespace tilewright
#endif  // __AVX2__
