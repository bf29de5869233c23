// SPDX-License-Identifier: Apache-2.0
// What the cpu and cuda forms of sampling share, so that both take the same decision to the bit.
//
// For a row x with temperature t > 0, m = max x, i = 1/t (rounded to float):
//   z_j = (x_j - m) * i                  scaled logit, never above 0
//   w_j = floor(exp(z_j) * 2^40)         integer weight: sums do not depend on their order
//   key_j                                a uint32 that orders as x_j does; equal for equal x_j
// A filter keeps the tokens whose key is at least its threshold; thresholds only rise:
//   top-k  (0 < k < vocab)  the k-th largest key of the row
//   top-p  (p < 1)          W = sum of w over what top-k kept; the largest key T of those such that
//                           the sum of w over keys >= T is at least top_p_target(p, W)
//   min-p  (p > 0)          keeps exp(z_j) >= p. The largest probability has weight 1, so no
//                           renormalisation is needed; p > 1 leaves the first maximum
// Drawn is the first j that has the largest z_j + gumbel(noise_bits(seed, position, j)).
// A row with NaN gives its first NaN; a row whose maximum is infinite gives its first maximum (so a
// row of -inf gives 0); t = 0, negative or NaN gives the first maximum.
#pragma once

#include "tilewright/device/core/rng.h"
#include "tilewright/ops/sampling/sampling_args.h"

namespace tilewright {

TW_EXACT bool sampling_is_greedy(const SamplingParams& params) {
  return !(params.temperature > 0.0f);
}

// Orders like the float; -0 equals +0. NaN is not to be passed.
TW_EXACT uint32_t sampling_key(float logit) {
  const uint32_t bits = exact_bits(logit + 0.0f);
  return bits ^ (uint32_t(int32_t(bits) >> 31) | 0x80000000u);
}

TW_EXACT float sampling_inverse_temperature(float temperature) {
#if TW_DEVICE_PASS
  const float inverse = __frcp_rn(temperature);
#else
  const float inverse = 1.0f / temperature;
#endif
  // Finite and not 0, for subnormal and infinite temperatures: -inf times it stays -inf.
  const float positive = inverse > 0x1p-126f ? inverse : 0x1p-126f;
  return positive < 0x1.fffffep127f ? positive : 0x1.fffffep127f;
}

TW_EXACT float sampling_scaled(float logit, float maximum, float inverse_temperature) {
  // -inf stays -inf; the product of 0 and a huge inverse stays 0.
  return exact_mul(logit - maximum, inverse_temperature);
}

TW_EXACT float sampling_probability(float scaled) { return exact_exp_nonpositive(scaled); }

TW_EXACT uint64_t sampling_weight(float probability) {
  return uint64_t(exact_mul(probability, 0x1p40f));
}

// At least 1, so that something is always kept.
TW_EXACT uint64_t sampling_top_p_target(float top_p, uint64_t total) {
  const double target = double(top_p > 0.0f ? top_p : 0.0f) * double(total);
  return target < 1.0 ? 1u : uint64_t(target);
}

// Token j takes word j % 4 of the counter (j / 4, position, 0, 0).
TW_EXACT Philox4 sampling_noise(uint64_t seed, int32_t position, uint32_t group_of_four) {
  return philox4x32_10(seed, {{group_of_four, uint32_t(position), 0u, 0u}});
}

}  // namespace tilewright
