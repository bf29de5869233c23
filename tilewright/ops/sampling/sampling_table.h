// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tilewright/ops/_core/isa_table.h"

namespace tilewright {

// Elementwise steps of sampling_math.h, the same bits in every instruction set.
struct SamplingTable {
  // scaled[j] = sampling_scaled(logits[j], …)
  void (*scale)(const float* logits, std::int64_t n, float maximum, float inverse_temperature,
                float* scaled);
  // probabilities[j] = sampling_probability(scaled[j])
  void (*probabilities)(const float* scaled, std::int64_t n, float* probabilities);
  // The Gumbel noise of tokens 4 * first_group to 4 * (first_group + groups) - 1.
  void (*noise)(std::uint64_t seed, std::int32_t position, std::int64_t first_group,
                std::int64_t groups, float* noise);
};
TW_ISA_TABLE(SamplingTable, sampling_table)

}  // namespace tilewright
