// SPDX-License-Identifier: Apache-2.0
// Rows of x before the product (normalised, rounded to 8 bits) and the gated unit after it.
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

// q[0..32) and its sum, for 32 values and the factor that brings them to 8 bits.
HWY_INLINE std::int32_t round_values(const float* x, float factor, std::int8_t* q) {
#if defined(__AVX2__)
  const __m256 by = _mm256_set1_ps(factor);
  __m256i v[4];
  for (int i = 0; i < 4; ++i)
    v[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i * 8), by));
  // The packs leave four runs of 4 bytes a half; the permutation puts them in order.
  const __m256i packed = _mm256_permutevar8x32_epi32(
      _mm256_packs_epi16(_mm256_packs_epi32(v[0], v[1]), _mm256_packs_epi32(v[2], v[3])),
      _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(q), packed);
  const __m256i unsigned_bytes = _mm256_xor_si256(packed, _mm256_set1_epi8(-128));
  const __m256i sums = _mm256_sad_epu8(unsigned_bytes, _mm256_setzero_si256());
  const __m128i halves =
      _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  return _mm_cvtsi128_si32(halves) + _mm_extract_epi32(halves, 2) - 32 * 128;
#else
  const hn::RebindToSigned<FloatTag> di;
  const hn::Rebind<std::int8_t, FloatTag> bytes;
  auto sum = hn::Zero(di);
  for (std::int64_t i = 0; i < kLinearBlock; i += kLanes) {
    const auto rounded =
        hn::NearestInt(hn::Mul(hn::LoadU(kFloats, x + i), hn::Set(kFloats, factor)));
    sum = hn::Add(sum, rounded);
    hn::StoreU(hn::DemoteTo(bytes, rounded), bytes, q + i);
  }
  return hn::GetLane(hn::SumOfLanes(di, sum));
#endif
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

void round(const float* x, std::int64_t token, const RoundedX& out) {
  const std::int64_t blocks = out.k / kLinearBlock;
  std::int8_t* q = out.q + token * out.k;
  for (std::int64_t b = 0; b < blocks; ++b, x += kLinearBlock, q += kLinearBlock) {
    const std::uint32_t bits = largest_magnitude(x);
    const std::int64_t at = token * blocks + b;
    if (bits >= kInfinityBits) {
      __builtin_memset(q, 0, kLinearBlock);
      out.scale[at] = out.offset[at] = __builtin_nanf("");
      out.total[at] = 0;
      continue;
    }
    float largest;
    __builtin_memcpy(&largest, &bits, sizeof(largest));
    const float scale = largest * (1.0f / 127);
    // Below the smallest normal number 1 / scale would overflow: such a block counts as zero.
    const bool tiny = scale < 1.17549435e-38f;
    out.scale[at] = tiny ? 0.0f : scale;
    out.total[at] = round_values(x, tiny ? 0.0f : 1.0f / scale, q);
    out.offset[at] = out.scale[at] * float(out.total[at]);
  }
  if (out.wide == nullptr) return;
  std::int16_t* wide = out.wide + token * out.k;
  q -= out.k;
  for (std::int64_t i = 0; i < out.k; ++i) wide[i] = q[i];
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
