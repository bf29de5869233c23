// SPDX-License-Identifier: Apache-2.0
// exp and log from explicit fused multiply-adds: the same bits on every host and GPU, whatever the
// compiler contracts. Within 2 units in the last place; for code whose decisions must agree.
#pragma once

#include "tilewright/device/core/types.h"

// Inlined always, so that objects built for different instruction sets share no symbol.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define TW_EXACT TW_HOST_DEVICE
#else
#define TW_EXACT __attribute__((always_inline)) inline
#endif

namespace tilewright {

TW_EXACT float exact_fma(float a, float b, float c) {
#if TW_DEVICE_PASS
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

// A product that no compiler fuses with what follows.
TW_EXACT float exact_mul(float a, float b) {
#if TW_DEVICE_PASS
  return __fmul_rn(a, b);
#else
  return __builtin_fmaf(a, b, 0.0f);
#endif
}

TW_EXACT uint32_t exact_bits(float value) {
#if TW_DEVICE_PASS
  return __float_as_uint(value);
#else
  return __builtin_bit_cast(uint32_t, value);
#endif
}

TW_EXACT float exact_float(uint32_t bits) {
#if TW_DEVICE_PASS
  return __uint_as_float(bits);
#else
  return __builtin_bit_cast(float, bits);
#endif
}

// exp(x) for x <= 0; 0 below -87 (before the result is subnormal). NaN gives 0.
TW_EXACT float exact_exp_nonpositive(float x) {
  const float bounded = x > -87.0f ? x : -87.0f;
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float n = exact_fma(bounded, 1.44269504f, magic) - magic;
  float r = exact_fma(n, -0.693359375f, bounded);
  r = exact_fma(n, 2.12194440e-4f, r);
  float p = 1.9875691500e-4f;
  p = exact_fma(p, r, 1.3981999507e-3f);
  p = exact_fma(p, r, 8.3334519073e-3f);
  p = exact_fma(p, r, 4.1665795894e-2f);
  p = exact_fma(p, r, 1.6666665459e-1f);
  p = exact_fma(p, r, 0.5f);
  p = exact_fma(exact_mul(p, r), r, r) + 1.0f;
  const float scaled = exact_float(exact_bits(p) + (uint32_t(int32_t(n)) << 23));
  return x > -87.0f ? scaled : 0.0f;
}

// log(2^exponent * (1 + f)) for f in [sqrt(1/2) - 1, sqrt(2) - 1].
TW_EXACT float exact_log_parts(float f, float exponent) {
  float p = 7.0376836292e-2f;
  p = exact_fma(p, f, -1.1514610310e-1f);
  p = exact_fma(p, f, 1.1676998740e-1f);
  p = exact_fma(p, f, -1.2420140846e-1f);
  p = exact_fma(p, f, 1.4249322787e-1f);
  p = exact_fma(p, f, -1.6668057665e-1f);
  p = exact_fma(p, f, 2.0000714765e-1f);
  p = exact_fma(p, f, -2.4999993993e-1f);
  p = exact_fma(p, f, 3.3333331174e-1f);
  const float square = exact_mul(f, f);
  float low = exact_fma(exponent, -2.12194440e-4f, exact_mul(exact_mul(p, f), square));
  low = exact_fma(square, -0.5f, low);
  return exact_fma(exponent, 0.693359375f, f + low);
}

struct ExactSplit {
  float f, exponent;  // value = 2^exponent * (1 + f)
};

// value: positive and normal.
TW_EXACT ExactSplit exact_split(float value) {
  const uint32_t bits = exact_bits(value);
  // Moves the cut between exponents from 1 to sqrt(1/2).
  const uint32_t shifted = bits - 0x3f3504f3u;
  const int32_t exponent = int32_t(shifted) >> 23;
  const float mantissa = exact_float(bits - (uint32_t(exponent) << 23));
  return {mantissa - 1.0f, float(exponent)};
}

// log of a positive normal number.
TW_EXACT float exact_log(float value) {
  const ExactSplit split = exact_split(value);
  return exact_log_parts(split.f, split.exponent);
}

// log(1 - u) for u in [0, 1), exact to relative precision for small u.
TW_EXACT float exact_log1m(float u) {
  const ExactSplit split = exact_split(1.0f - u);
  const bool small = u < 0.25f;
  return exact_log_parts(small ? -u : split.f, small ? 0.0f : split.exponent);
}

}  // namespace tilewright
