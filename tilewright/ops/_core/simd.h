// SPDX-License-Identifier: Apache-2.0
// For *_simd.cpp only: vectors of the instruction set that the file is compiled for. All code of
// such a file stays in namespace tilewright::TW_ISA or in internal linkage. It calls no inline
// function or template of a shared header that is not forced inline: the linker would keep one copy
// for all instruction sets.
#pragma once

#ifndef TW_ISA
#error "simd.h: include it in *_simd.cpp alone, which the build compiles with -DTW_ISA=…"
#endif

#define HWY_DISABLE_PCLMUL_AES 1  // Highway asks for them with SSE4 and AVX2; nothing here does
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

namespace tilewright {
namespace TW_ISA {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;
inline constexpr FloatTag kFloats;
inline constexpr std::int64_t kLanes = std::int64_t(hn::MaxLanes(kFloats));

enum class Storage { kF32, kF16, kBf16 };

HWY_INLINE Floats floats_of_half(hn::Vec<hn::Rebind<std::uint16_t, FloatTag>> bits) {
#if defined(__F16C__)
  const hn::Rebind<hwy::float16_t, FloatTag> half_tag;
  return hn::PromoteTo(kFloats, hn::BitCast(half_tag, bits));
#else
  const hn::RebindToUnsigned<FloatTag> du;
  const auto wide = hn::PromoteTo(du, bits);
  const auto rest = hn::And(wide, hn::Set(du, 0x7fffu));
  const auto sign = hn::ShiftLeft<16>(hn::AndNot(hn::Set(du, 0x7fffu), wide));
  // A power of two scales the exponent and makes subnormals normal in one exact product.
  const auto scaled = hn::Mul(hn::BitCast(kFloats, hn::ShiftLeft<13>(rest)),
                              hn::BitCast(kFloats, hn::Set(du, 0x77800000u)));
  const auto special =
      hn::BitCast(kFloats, hn::Or(hn::ShiftLeft<13>(rest), hn::Set(du, 0x7f800000u)));
  const auto is_special =
      hn::RebindMask(kFloats, hn::Gt(hn::BitCast(hn::RebindToSigned<FloatTag>(), rest),
                                     hn::Set(hn::RebindToSigned<FloatTag>(), 0x7bff)));
  return hn::Or(hn::IfThenElse(is_special, special, scaled), hn::BitCast(kFloats, sign));
#endif
}

HWY_INLINE Floats floats_of_bf16(hn::Vec<hn::Rebind<std::uint16_t, FloatTag>> bits) {
  const hn::RebindToUnsigned<FloatTag> du;
  return hn::BitCast(kFloats, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
}

// kLanes elements from `index` on.
template <Storage kStorage>
HWY_INLINE Floats load_floats(const void* data, std::int64_t index) {
  if constexpr (kStorage == Storage::kF32) {
    return hn::LoadU(kFloats, static_cast<const float*>(data) + index);
  } else {
    const hn::Rebind<std::uint16_t, FloatTag> narrow;
    const auto bits = hn::LoadU(narrow, static_cast<const std::uint16_t*>(data) + index);
    if constexpr (kStorage == Storage::kF16) return floats_of_half(bits);
    return floats_of_bf16(bits);
  }
}

// The first `count` < kLanes elements from `index` on, zeros after them.
template <Storage kStorage>
HWY_INLINE Floats load_some_floats(const void* data, std::int64_t index, std::int64_t count) {
  constexpr std::size_t kBytes = kStorage == Storage::kF32 ? 4 : 2;
  alignas(64) unsigned char padded[kLanes * kBytes] = {};
  std::memcpy(padded, static_cast<const unsigned char*>(data) + std::size_t(index) * kBytes,
              std::size_t(count) * kBytes);
  return load_floats<kStorage>(padded, 0);
}

HWY_INLINE void store_some_floats(Floats values, float* data, std::int64_t count) {
  alignas(64) float padded[kLanes];
  hn::Store(values, kFloats, padded);
  std::memcpy(data, padded, std::size_t(count) * sizeof(float));
}

// y[i] = function(x[i], …) over rows of n floats; y may be any of the inputs.
template <class Function>
HWY_INLINE void map_row(float* y, const float* x, std::int64_t n, const Function& function) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(function(hn::LoadU(kFloats, x + i)), kFloats, y + i);
  }
  if (i == n) return;
  store_some_floats(function(load_some_floats<Storage::kF32>(x, i, n - i)), y + i, n - i);
}

template <class Function>
HWY_INLINE void map_row(float* y, const float* a, const float* b, std::int64_t n,
                        const Function& function) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(function(hn::LoadU(kFloats, a + i), hn::LoadU(kFloats, b + i)), kFloats, y + i);
  }
  if (i == n) return;
  const Floats left = load_some_floats<Storage::kF32>(a, i, n - i);
  const Floats right = load_some_floats<Storage::kF32>(b, i, n - i);
  store_some_floats(function(left, right), y + i, n - i);
}

// exp(x), within 2 units in the last place: 0 under -87.3 (where float is subnormal), inf over
// 88.4, NaN for NaN.
HWY_INLINE Floats exp_floats(Floats x) {
  const hn::RebindToSigned<FloatTag> di;
  const Floats low = hn::Set(kFloats, -87.3f);
  const Floats bounded = hn::Min(hn::Max(x, low), hn::Set(kFloats, 89.0f));
  const Floats n = hn::Round(hn::Mul(bounded, hn::Set(kFloats, 1.44269504f)));
  Floats r = hn::NegMulAdd(n, hn::Set(kFloats, 0.693359375f), bounded);
  r = hn::MulAdd(n, hn::Set(kFloats, 2.12194440e-4f), r);
  Floats p = hn::Set(kFloats, 1.9875691500e-4f);
  p = hn::MulAdd(p, r, hn::Set(kFloats, 1.3981999507e-3f));
  p = hn::MulAdd(p, r, hn::Set(kFloats, 8.3334519073e-3f));
  p = hn::MulAdd(p, r, hn::Set(kFloats, 4.1665795894e-2f));
  p = hn::MulAdd(p, r, hn::Set(kFloats, 1.6666665459e-1f));
  p = hn::MulAdd(p, r, hn::Set(kFloats, 0.5f));
  p = hn::Add(hn::MulAdd(hn::Mul(p, r), r, r), hn::Set(kFloats, 1.0f));
  const auto exponent = hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127));
  const Floats result = hn::Mul(p, hn::BitCast(kFloats, hn::ShiftLeft<23>(exponent)));
  const Floats flushed = hn::IfThenZeroElse(hn::Lt(x, low), result);
  return hn::IfThenElse(hn::IsNaN(x), x, flushed);
}

}  // namespace
}  // namespace TW_ISA
}  // namespace tilewright
