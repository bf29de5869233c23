// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: the same on host and device, and free of state. Source: Salmon,
// Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011 (Philox4x32-10).
#pragma once

#include "tilewright/device/core/exact_math.h"

namespace tilewright {

struct Philox4 {
  uint32_t word[4];
};

TW_EXACT Philox4 philox_round(Philox4 counter, uint32_t key0, uint32_t key1) {
  const uint64_t product0 = uint64_t(0xd2511f53u) * counter.word[0];
  const uint64_t product1 = uint64_t(0xcd9e8d57u) * counter.word[2];
  return {{uint32_t(product1 >> 32) ^ counter.word[1] ^ key0, uint32_t(product1),
           uint32_t(product0 >> 32) ^ counter.word[3] ^ key1, uint32_t(product0)}};
}

// 128 random bits for each (seed, counter).
TW_EXACT Philox4 philox4x32_10(uint64_t seed, Philox4 counter) {
  uint32_t key0 = uint32_t(seed), key1 = uint32_t(seed >> 32);
  TW_UNROLL
  for (int round = 0; round < 10; ++round) {
    counter = philox_round(counter, key0, key1);
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return counter;
}

// In (0, 1): (bits + 1/2) * 2^-32 rounded to float, kept under 1. Small values keep full relative
// precision.
TW_EXACT float uniform_open(uint32_t bits) {
  const float u = exact_fma(float(bits), 0x1p-32f, 0x1p-33f);
  return u < 0x1.fffffep-1f ? u : 0x1.fffffep-1f;
}

// Standard Gumbel noise, -log(-log(1 - u)): between -2.9 and 22.9. argmax_i(log p_i + noise_i) is a
// draw from p.
TW_EXACT float gumbel(uint32_t bits) { return -exact_log(-exact_log1m(uniform_open(bits))); }

}  // namespace tilewright
