// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tilewright {

// Which elements of a head rotate together: (2i, 2i+1), as in GGUF files of the Llama family
// whose q and k rows the converter permuted, or (i, i + rope_dim/2), as in Hugging Face files.
enum class RopePairing { kInterleaved, kHalfSplit };

struct RopeScaling {
  enum class Kind { kNone, kLinear, kLlama3, kFactors };
  Kind kind = Kind::kNone;
  float factor = 1;                                 // kLinear, kLlama3
  float low_freq_factor = 1, high_freq_factor = 4;  // kLlama3
  std::int64_t original_context = 0;                // kLlama3
  // kFactors: frequency i is divided by factors[i]. GGUF stores llama3 scaling this way
  // (tensor rope_freqs.weight); rope_dim / 2 of them.
  std::vector<float> factors;
};

// Angle in radians per position of each rotating pair, rope_dim / 2 of them:
//   base^(-2i/rope_dim), then divided by `factor` (linear), blended by wavelength (llama3), or
//   divided by factors[i]. Computed in double precision.
// Source: "The Llama 3 Herd of Models" and the config of Llama 3.1 for the llama3 kind.
std::vector<float> rope_frequencies(std::int64_t rope_dim, float base, const RopeScaling& scaling);

}  // namespace tilewright
