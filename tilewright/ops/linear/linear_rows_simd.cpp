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
