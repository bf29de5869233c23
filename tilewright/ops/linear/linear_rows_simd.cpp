// SPDX-License-Identifier: Apache-2.0
// Rows of x before the product (normalised, rounded to integers) and the gated unit after it.
#include "tilewright/ops/_core/simd.h"
#include "tilewright/ops/linear/linear_tables.h"

namespace tilewright {
namespace TW_ISA {
namespace {

constexpr std::uint32_t kInfinityBits = 0x7f800000u;

float sum_of_squares(const float* x, std::int64_t k) {
  Floats sums[4];
  for (Floats& sum : sums) sum = hn::Zero(kFloats);
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= k; i += 4 * kLanes) {
    for (int j = 0; j < 4; ++j) {
      const Floats v = hn::LoadU(kFloats, x + i + j * kLanes);
      sums[j] = hn::MulAdd(v, v, sums[j]);
    }
  }
  for (; i < k; i += kLanes) {
    const std::int64_t left = k - i;
    const Floats v =
        left >= kLanes ? hn::LoadU(kFloats, x + i) : load_some_floats<Storage::kF32>(x, i, left);
    sums[0] = hn::MulAdd(v, v, sums[0]);
  }
  const Floats all = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(kFloats, all));
}

void rms_norm(const float* x, const float* weight, float eps, float* out, std::int64_t k) {
  const float mean = sum_of_squares(x, k) / float(k);
  const Floats scale = hn::Set(kFloats, 1.0f / __builtin_sqrtf(mean + eps));
  map_row(out, x, weight, k, [&](Floats v, Floats w) { return hn::Mul(hn::Mul(v, scale), w); });
}

// 32 values times `factor`, rounded to integers that fit 8 or 16 bits.
#if defined(__AVX2__)

struct Rounded {
  __m256i v[4];  // in order
};

HWY_INLINE Rounded round_values(const float* x, float factor) {
  const __m256 by = _mm256_set1_ps(factor);
  Rounded out;
  for (int i = 0; i < 4; ++i)
    out.v[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i * 8), by));
  return out;
}

// The packs leave pieces of a half; this puts them in order.
HWY_INLINE __m256i in_order(__m256i packed) {
  return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

HWY_INLINE void store_bytes(const Rounded& rounded, std::int8_t* to) {
  const __m256i packed = _mm256_packs_epi16(_mm256_packs_epi32(rounded.v[0], rounded.v[1]),
                                            _mm256_packs_epi32(rounded.v[2], rounded.v[3]));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), in_order(packed));
}

// Elements 0 or 1 of every two of a and of b, four of each half in turns.
template <int kSelect>
HWY_INLINE __m256i every_second(__m256i a, __m256i b) {
  return _mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), kSelect));
}

template <int kSelect>
HWY_INLINE __m256i words_of(const Rounded& r) {
  return in_order(_mm256_packs_epi32(every_second<kSelect>(r.v[0], r.v[1]),
                                     every_second<kSelect>(r.v[2], r.v[3])));
}

HWY_INLINE void store_words(const Rounded& rounded, std::int16_t* to) {
  __m256i* words = reinterpret_cast<__m256i*>(to);
  _mm256_storeu_si256(words, words_of<0x88>(rounded));
  _mm256_storeu_si256(words + 1, words_of<0xdd>(rounded));
}

HWY_INLINE std::int32_t total_of(const Rounded& r) {
  const __m256i sums =
      _mm256_add_epi32(_mm256_add_epi32(r.v[0], r.v[1]), _mm256_add_epi32(r.v[2], r.v[3]));
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(four) + _mm_extract_epi32(four, 1);
}

#else

struct Rounded {
  std::int32_t v[kLinearBlock];
};

HWY_INLINE Rounded round_values(const float* x, float factor) {
  const hn::RebindToSigned<FloatTag> di;
  Rounded out;
  for (std::int64_t i = 0; i < kLinearBlock; i += kLanes)
    hn::StoreU(hn::NearestInt(hn::Mul(hn::LoadU(kFloats, x + i), hn::Set(kFloats, factor))), di,
               out.v + i);
  return out;
}

HWY_INLINE void store_bytes(const Rounded& rounded, std::int8_t* to) {
  for (int i = 0; i < kLinearBlock; ++i) to[i] = std::int8_t(rounded.v[i]);
}

HWY_INLINE void store_words(const Rounded& rounded, std::int16_t* to) {
  for (int i = 0; i < kLinearBlock; ++i) to[i % 2 * 16 + i / 2] = std::int16_t(rounded.v[i]);
}

HWY_INLINE std::int32_t total_of(const Rounded& rounded) {
  std::int32_t total = 0;
  for (const std::int32_t v : rounded.v) total += v;
  return total;
}

#endif

// The nearest f16, ties to even; too large a value stays.
HWY_INLINE float through_half(float value) {
  const float magnitude = __builtin_fabsf(value);
  if (!(magnitude < 65520.0f)) return value;
  if (magnitude < 0x1p-14f) return __builtin_copysignf((magnitude + 0.5f) - 0.5f, value);
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
  float rounded;
  __builtin_memcpy(&rounded, &bits, sizeof(rounded));
  return rounded;
}

// Bits order as magnitudes do, and NaN is over infinity: one maximum finds all three.
HWY_INLINE std::uint32_t largest_magnitude(const float* x) {
  const hn::RebindToSigned<FloatTag> di;
  const auto magnitude = hn::Set(di, 0x7fffffff);
  auto largest = hn::Zero(di);
  for (std::int64_t i = 0; i < kLinearBlock; i += kLanes) {
    const auto bits = hn::BitCast(di, hn::LoadU(kFloats, x + i));
    largest = hn::Max(largest, hn::And(bits, magnitude));
  }
  return std::uint32_t(hn::GetLane(hn::MaxOfLanes(di, largest)));
}

template <int kLevels>
HWY_INLINE void round_block(const float* x, std::int64_t from, std::int64_t at,
                            const RoundedX& out) {
  const std::uint32_t bits = largest_magnitude(x);
  float largest;
  __builtin_memcpy(&largest, &bits, sizeof(largest));
  const bool finite = bits < kInfinityBits;
  float scale = finite ? largest / kLevels : __builtin_nanf("");
  // Below the smallest normal number 1 / scale would overflow: such a block counts as zero.
  if (scale < 1.17549435e-38f) scale = 0;
  Rounded rounded{};
  if (scale > 0) rounded = round_values(x, kLevels / largest);
  const std::int32_t total = total_of(rounded);
  const float offset = scale * float(total);
  out.total[at] = total;
  out.scale[at] = kLevels == kEightBitLevels ? through_half(scale) : scale;
  out.offset[at] = kLevels == kEightBitLevels ? through_half(offset) : offset;
  if (kLevels == kEightBitLevels) store_bytes(rounded, out.q + from);
  if (out.words != nullptr) store_words(rounded, out.words + from);
}

void round(const float* x, std::int64_t token, const RoundedX& out) {
  const std::int64_t first = token * out.k, blocks = out.k / kLinearBlock;
  if (out.sixteen_bit()) {
    for (std::int64_t b = 0; b < blocks; ++b)
      round_block<kSixteenBitLevels>(x + b * kLinearBlock, first + b * kLinearBlock,
                                     token * blocks + b, out);
  } else {
    for (std::int64_t b = 0; b < blocks; ++b)
      round_block<kEightBitLevels>(x + b * kLinearBlock, first + b * kLinearBlock,
                                   token * blocks + b, out);
  }
}

void silu_mul(const float* gate, const float* up, float* out, std::int64_t n) {
  map_row(out, gate, up, n, [](Floats g, Floats u) {
    const Floats one = hn::Set(kFloats, 1.0f);
    return hn::Mul(hn::Div(g, hn::Add(one, exp_floats(hn::Neg(g)))), u);
  });
}

}  // namespace

const LinearRowTable& linear_row_table() {
  static constexpr LinearRowTable table{rms_norm, round, silu_mul};
  return table;
}

}  // namespace TW_ISA
}  // namespace tilewright
