// SPDX-License-Identifier: Apache-2.0
// For linear_blocks_simd.cpp: a panel is a group of 16 rows, some blocks deep, in the order in
// which a tile of tokens reads it: for each block, for each step (4 bytes or two 16-bit numbers of
// a row), the 16 rows side by side. It is packed in the first-level cache and used for every token.
#pragma once

#include "tilewright/ops/linear/linear_i8_simd.h"
#include "tilewright/ops/linear/linear_tables.h"

#if defined(__AVX2__)
namespace tilewright {
namespace TW_ISA {
namespace {

#if defined(__AVX512VNNI__)

struct Floats16 {
  __m512 v;
};
struct Step16 {
  __m512i v;
};
TW_INLINE Step16 load_step(const Byte* at) { return {_mm512_load_si512(at)}; }
TW_INLINE Floats16 load_floats16(const float* at) { return {_mm512_loadu_ps(at)}; }
TW_INLINE void store_floats16(float* at, Floats16 a) { _mm512_storeu_ps(at, a.v); }
TW_INLINE Floats16 zero_floats16() { return {_mm512_setzero_ps()}; }
TW_INLINE Floats16 multiply(Floats16 a, float b) { return {_mm512_mul_ps(a.v, _mm512_set1_ps(b))}; }
TW_INLINE Floats16 multiply_add(Floats16 a, Floats16 b, Floats16 c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
TW_INLINE Floats16 multiply_add(Floats16 a, float b, Floats16 c) {
  return {_mm512_fmadd_ps(a.v, _mm512_set1_ps(b), c.v)};
}

// The mask silences a warning about the unmasked form in the compiler's own header.
TW_INLINE __m512 to_floats(__m512i v) { return _mm512_maskz_cvtepi32_ps(__mmask16(-1), v); }

// Unsigned bytes of w times signed bytes of x.
struct ByteSum {
  __m512i v = _mm512_setzero_si512();
  TW_INLINE void add(Step16 w, std::int32_t x) {
    v = _mm512_dpbusd_epi32(v, w.v, _mm512_set1_epi32(x));
  }
  TW_INLINE Floats16 floats(std::int32_t less) const {
    return {to_floats(_mm512_sub_epi32(v, _mm512_set1_epi32(less)))};
  }
};

struct WordSum {
  __m512i v = _mm512_setzero_si512();
  TW_INLINE void add(Step16 w, std::int32_t x) {
    v = _mm512_dpwssd_epi32(v, w.v, _mm512_set1_epi32(x));
  }
  TW_INLINE Floats16 floats(std::int32_t less) const {
    return {to_floats(_mm512_sub_epi32(v, _mm512_set1_epi32(less)))};
  }
};

constexpr int kTileTokens = 8;
constexpr bool kBytesSaturate = false;  // q8_0 as unsigned bytes, 128 too large

#else

struct Floats16 {
  __m256 a, b;
};
struct Step16 {
  __m256i a, b;
};
TW_INLINE Step16 load_step(const Byte* at) { return {load32(at), load32(at + 32)}; }
TW_INLINE Floats16 load_floats16(const float* at) {
  return {_mm256_loadu_ps(at), _mm256_loadu_ps(at + 8)};
}
TW_INLINE void store_floats16(float* at, Floats16 v) {
  _mm256_storeu_ps(at, v.a);
  _mm256_storeu_ps(at + 8, v.b);
}
TW_INLINE Floats16 zero_floats16() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
TW_INLINE Floats16 multiply(Floats16 v, float by) {
  const __m256 factor = _mm256_set1_ps(by);
  return {_mm256_mul_ps(v.a, factor), _mm256_mul_ps(v.b, factor)};
}
TW_INLINE Floats16 multiply_add(Floats16 x, Floats16 y, Floats16 z) {
  return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
TW_INLINE Floats16 multiply_add(Floats16 x, float y, Floats16 z) {
  const __m256 factor = _mm256_set1_ps(y);
  return {_mm256_fmadd_ps(x.a, factor, z.a), _mm256_fmadd_ps(x.b, factor, z.b)};
}

// Numbers 0..15 of w times signed bytes of x: the 16-bit sums of a block's 8 steps stay within
// 16 * 15 * 127.
struct ByteSum {
  __m256i a = _mm256_setzero_si256(), b = _mm256_setzero_si256();
  TW_INLINE void add(Step16 w, std::int32_t x) {
    const __m256i bytes = _mm256_set1_epi32(x);
    a = _mm256_add_epi16(a, _mm256_maddubs_epi16(w.a, bytes));
    b = _mm256_add_epi16(b, _mm256_maddubs_epi16(w.b, bytes));
  }
  TW_INLINE Floats16 floats(std::int32_t less) const {
    const __m256i ones = _mm256_set1_epi16(1), minus = _mm256_set1_epi32(less);
    return {_mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_madd_epi16(a, ones), minus)),
            _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_madd_epi16(b, ones), minus))};
  }
};

struct WordSum {
  __m256i a = _mm256_setzero_si256(), b = _mm256_setzero_si256();
  TW_INLINE void add(Step16 w, std::int32_t x) {
    const __m256i words = _mm256_set1_epi32(x);
    a = _mm256_add_epi32(a, _mm256_madd_epi16(w.a, words));
    b = _mm256_add_epi32(b, _mm256_madd_epi16(w.b, words));
  }
  TW_INLINE Floats16 floats(std::int32_t less) const {
    const __m256i minus = _mm256_set1_epi32(less);
    return {_mm256_cvtepi32_ps(_mm256_sub_epi32(a, minus)),
            _mm256_cvtepi32_ps(_mm256_sub_epi32(b, minus))};
  }
};

constexpr int kTileTokens = 4;
constexpr bool kBytesSaturate = true;  // q8_0 as words instead

#endif

TW_INLINE std::int32_t load_dword(const void* at) {
  std::int32_t value;
  __builtin_memcpy(&value, at, sizeof(value));
  return value;
}

// A panel of at most kBlocks blocks. kSteps: 8 with bytes, 16 with words.
template <int kSteps>
struct Panel {
  static constexpr std::int64_t kBlocks = kSteps == 8 ? 24 : 14;
  alignas(64) Byte steps[kBlocks][kSteps][64];
  alignas(64) float scale[kBlocks][16];
  alignas(64) float minimum[kBlocks][16];
};

TW_INLINE void store32(Byte* at, __m256i v) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(at), v);
}

// 8 rows of nibbles to the half of kSteps steps that starts at `to`: as bytes, or as words in the
// order of RoundedX::words.
template <int kSteps>
TW_INLINE void pack_nibbles(const Byte* rows, std::int64_t pitch, Byte* to) {
  const __m256i mask = kSteps == 8 ? _mm256_set1_epi8(15) : _mm256_set1_epi16(15);
  __m256i v[4];
  for (int i = 0; i < 4; ++i) v[i] = load_pair(rows + i * pitch, pitch);
  transpose_pairs(v);
  for (int j = 0; j < 4; ++j) {
    store32(to + j * 64, _mm256_and_si256(v[j], mask));
    store32(to + (j + 4) * 64, _mm256_and_si256(_mm256_srli_epi16(v[j], 4), mask));
    if constexpr (kSteps == 8) continue;
    store32(to + (j + 8) * 64, _mm256_and_si256(_mm256_srli_epi16(v[j], 8), mask));
    store32(to + (j + 12) * 64, _mm256_srli_epi16(v[j], 12));
  }
}

// 8 rows of 32 signed bytes to the half of 16 steps, as words in the order of RoundedX::words.
TW_INLINE void pack_split_bytes(const Byte* rows, std::int64_t pitch, Byte* to) {
  for (int c = 0; c < 2; ++c) {
    __m256i v[4];
    for (int i = 0; i < 4; ++i) v[i] = load_pair(rows + i * pitch + c * 16, pitch);
    transpose_pairs(v);
    for (int j = 0; j < 4; ++j) {
      store32(to + (c * 4 + j) * 64, even_bytes(v[j]));
      store32(to + (c * 4 + j + 8) * 64, odd_bytes(v[j]));
    }
  }
}

// 8 rows of kChunks * 16 bytes to the half of 4 * kChunks steps; `flip` is xored to every byte.
template <int kChunks>
TW_INLINE void pack_bytes(const Byte* rows, std::int64_t pitch, int flip, Byte* to) {
  for (int c = 0; c < kChunks; ++c) {
    __m256i v[4];
    for (int i = 0; i < 4; ++i) v[i] = load_pair(rows + i * pitch + c * 16, pitch);
    transpose_pairs(v);
    for (int j = 0; j < 4; ++j)
      store32(to + (c * 4 + j) * 64, _mm256_xor_si256(v[j], _mm256_set1_epi8(char(flip))));
  }
}

// out[t] += the panel against kTokens tokens. `x` is their rounded rows from the panel's first
// block on, q or words; the rows of scales are `blocks_apart` apart.
template <class Sum, int kTokens, int kSteps, bool kMinimum>
void multiply_tile(const Panel<kSteps>& panel, std::int64_t blocks, const Byte* x,
                   std::int64_t x_pitch, const float* scale, const float* offset,
                   const std::int32_t* total, std::int64_t blocks_apart, int zero, float* out) {
  Floats16 sums[kTokens];
  for (int t = 0; t < kTokens; ++t) sums[t] = load_floats16(out + t * 16);
  for (std::int64_t b = 0; b < blocks; ++b, x += kSteps * 4) {
    Sum ints[kTokens];
#pragma GCC unroll 16
    for (int s = 0; s < kSteps; ++s) {
      const Step16 w = load_step(panel.steps[b][s]);
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t) ints[t].add(w, load_dword(x + t * x_pitch + s * 4));
    }
    const Floats16 d = load_floats16(panel.scale[b]);
#pragma GCC unroll 8
    for (int t = 0; t < kTokens; ++t) {
      const std::int64_t at = t * blocks_apart + b;
      const Floats16 products = ints[t].floats(zero == 0 ? 0 : zero * total[at]);
      sums[t] = multiply_add(products, multiply(d, scale[at]), sums[t]);
      if constexpr (kMinimum)
        sums[t] = multiply_add(load_floats16(panel.minimum[b]), offset[at], sums[t]);
    }
  }
  for (int t = 0; t < kTokens; ++t) store_floats16(out + t * 16, sums[t]);
}

}  // namespace
}  // namespace TW_ISA
}  // namespace tilewright
#endif  // __AVX2__
