// SPDX-License-Identifier: Apache-2.0
// Our own 16- and 8-bit floats, bit-compatible with the vendor's. They are storage: arithmetic is
// done in float. Rounding is to nearest even; fp8 conversions saturate to the largest finite value
// as the hardware's satfinite does.
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright {

struct alignas(2) bf16 {
  uint16_t bits;
};
struct alignas(2) half {
  uint16_t bits;
};
struct fp8_e4m3 {
  uint8_t bits;
};
struct fp8_e5m2 {
  uint8_t bits;
};

namespace detail {

TW_HOST_DEVICE uint32_t float_bits(float value) {
#if TW_DEVICE_PASS
  return __float_as_uint(value);
#else
  return __builtin_bit_cast(uint32_t, value);
#endif
}

TW_HOST_DEVICE float bits_float(uint32_t bits) {
#if TW_DEVICE_PASS
  return __uint_as_float(bits);
#else
  return __builtin_bit_cast(float, bits);
#endif
}

TW_HOST_DEVICE float half_to_float(uint16_t bits) {
#if TW_DEVICE_PASS
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
#else
  const uint32_t sign = uint32_t(bits & 0x8000u) << 16;
  const uint32_t rest = bits & 0x7fffu;
  if (rest >= 0x7c00u) return bits_float(sign | 0x7f800000u | ((rest & 0x3ffu) << 13));
  // A power of two scales the exponent and makes subnormals normal in one exact product.
  return bits_float(sign | float_bits(bits_float(rest << 13) * bits_float(0x77800000u)));
#endif
}

// Rounds to `mantissa` bits with exponents from `min_exponent`, by adding and removing a number
// whose last place is the target's: the host path of half and fp8.
TW_HOST_DEVICE float round_to_places(float magnitude, int mantissa, int min_exponent) {
  int exponent = int(float_bits(magnitude) >> 23) - 127;
  if (exponent < min_exponent) exponent = min_exponent;
  const float place = bits_float(uint32_t(exponent - mantissa + 23 + 127) << 23);
  const float shifted = magnitude + place * 1.5f;
  return shifted - place * 1.5f;
}

TW_HOST_DEVICE uint16_t float_to_half(float value) {
#if TW_DEVICE_PASS
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  const uint32_t source = float_bits(value);
  const uint16_t sign = uint16_t((source >> 16) & 0x8000u);
  const uint32_t magnitude = source & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return uint16_t(0x7fffu);  // the GPU's canonical NaN
  if (magnitude >= 0x477ff000u) return uint16_t(sign | 0x7c00u);
  const float rounded = round_to_places(bits_float(magnitude), 10, -14);
  return uint16_t(sign | (float_bits(rounded * bits_float(0x07800000u)) >> 13));
#endif
}

TW_HOST_DEVICE uint16_t float_to_bf16(float value) {
#if TW_DEVICE_PASS && __CUDA_ARCH__ >= 800
  uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  const uint32_t bits = float_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return uint16_t(0x7fffu);
  return uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
#endif
}

}  // namespace detail

TW_HOST_DEVICE float to_float(float value) { return value; }
TW_HOST_DEVICE float to_float(bf16 value) { return detail::bits_float(uint32_t(value.bits) << 16); }
TW_HOST_DEVICE float to_float(half value) { return detail::half_to_float(value.bits); }
TW_HOST_DEVICE float to_float(fp8_e5m2 value) {
  return detail::half_to_float(uint16_t(uint16_t(value.bits) << 8));
}
TW_HOST_DEVICE float to_float(fp8_e4m3 value) {
  const uint32_t rest = value.bits & 0x7fu;
  const uint32_t sign = uint32_t(value.bits & 0x80u) << 24;
  if (rest == 0x7fu) return detail::bits_float(sign | 0x7fc00000u);
  // exponent bias 7 against 127: a product with 2^120 also normalises subnormals
  const float magnitude = detail::bits_float(rest << 20) * detail::bits_float(0x7b800000u);
  return detail::bits_float(sign | detail::float_bits(magnitude));
}

// from_float<T>(x): T is float, bf16, half, fp8_e4m3 or fp8_e5m2.
template <class T>
struct FromFloat;
template <>
struct FromFloat<float> {
  static TW_HOST_DEVICE float convert(float value) { return value; }
};
template <>
struct FromFloat<bf16> {
  static TW_HOST_DEVICE bf16 convert(float value) { return {detail::float_to_bf16(value)}; }
};
template <>
struct FromFloat<half> {
  static TW_HOST_DEVICE half convert(float value) { return {detail::float_to_half(value)}; }
};
template <>
struct FromFloat<fp8_e4m3> {
  static TW_HOST_DEVICE fp8_e4m3 convert(float value) {
    const uint32_t source = detail::float_bits(value);
    const uint8_t sign = uint8_t((source >> 24) & 0x80u);
    const uint32_t magnitude = source & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return {uint8_t(0x7fu)};
    if (magnitude >= 0x43e00000u) return {uint8_t(sign | 0x7eu)};  // 448
    const float rounded = detail::round_to_places(detail::bits_float(magnitude), 3, -6);
    return {uint8_t(sign | (detail::float_bits(rounded * detail::bits_float(0x03800000u)) >> 20))};
  }
};
template <>
struct FromFloat<fp8_e5m2> {
  static TW_HOST_DEVICE fp8_e5m2 convert(float value) {
    const uint32_t source = detail::float_bits(value);
    const uint8_t sign = uint8_t((source >> 24) & 0x80u);
    const uint32_t magnitude = source & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return {uint8_t(0x7fu)};
    if (magnitude >= 0x47600000u) return {uint8_t(sign | 0x7bu)};  // 57344
    const float rounded = detail::round_to_places(detail::bits_float(magnitude), 2, -14);
    return {uint8_t(sign | (detail::float_bits(rounded * detail::bits_float(0x07800000u)) >> 21))};
  }
};
template <class T>
TW_HOST_DEVICE T from_float(float value) {
  return FromFloat<T>::convert(value);
}

}  // namespace tilewright
