// SPDX-License-Identifier: Apache-2.0
// Plain loops: the compiler vectorises them, and sampling_math.h fixes every rounding. Selections
// become blends once nobody asks for floating-point traps; no value changes by it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif

#include <cstdint>

#include "tilewright/ops/sampling/sampling_math.h"
#include "tilewright/ops/sampling/sampling_table.h"

namespace tilewright::TW_ISA {
namespace {

void scale(const float* logits, std::int64_t n, float maximum, float inverse_temperature,
           float* scaled) {
  for (std::int64_t j = 0; j < n; ++j) {
    scaled[j] = sampling_scaled(logits[j], maximum, inverse_temperature);
  }
}

void probabilities(const float* scaled, std::int64_t n, float* result) {
  for (std::int64_t j = 0; j < n; ++j) result[j] = sampling_probability(scaled[j]);
}

void noise(std::uint64_t seed, std::int32_t position, std::int64_t first_group, std::int64_t groups,
           float* result) {
  constexpr std::int64_t kGroups = 16;
  while (groups > 0) {
    std::uint32_t bits[4 * kGroups];
    const std::int64_t count = groups < kGroups ? groups : kGroups;
    for (std::int64_t g = 0; g < count; ++g) {
      const Philox4 words = sampling_noise(seed, position, std::uint32_t(first_group + g));
      for (int i = 0; i < 4; ++i) bits[4 * g + i] = words.word[i];
    }
    for (std::int64_t i = 0; i < 4 * count; ++i) result[i] = gumbel(bits[i]);
    first_group += count;
    groups -= count;
    result += 4 * count;
  }
}

}  // namespace

const SamplingTable& sampling_table() {
  static const SamplingTable table = {scale, probabilities, noise};
  return table;
}

}  // namespace tilewright::TW_ISA
