// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/rope/rope_frequencies.h"

#include <cmath>
#include <numbers>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

// Long waves are slowed by `factor`, short ones kept, those between blended.
double llama3_frequency(double frequency, const RopeScaling& scaling) {
  const double wave = 2 * std::numbers::pi / frequency;
  const double context = double(scaling.original_context);
  if (wave < context / scaling.high_freq_factor) return frequency;
  if (wave > context / scaling.low_freq_factor) return frequency / scaling.factor;
  const double kept = (context / wave - scaling.low_freq_factor) /
                      (double(scaling.high_freq_factor) - scaling.low_freq_factor);
  return (1 - kept) * frequency / scaling.factor + kept * frequency;
}

}  // namespace

std::vector<float> rope_frequencies(std::int64_t rope_dim, float base, const RopeScaling& scaling) {
  TW_CHECK(rope_dim >= 0 && rope_dim % 2 == 0, InvalidArgument, "rope: dimension is ", rope_dim,
           ", wants an even number");
  std::vector<float> result(static_cast<std::size_t>(rope_dim / 2));
  for (std::size_t i = 0; i < result.size(); ++i) {
    double frequency = std::pow(double(base), -2.0 * double(i) / double(rope_dim));
    switch (scaling.kind) {
      case RopeScaling::Kind::kNone: break;
      case RopeScaling::Kind::kLinear: frequency /= scaling.factor; break;
      case RopeScaling::Kind::kLlama3: frequency = llama3_frequency(frequency, scaling); break;
      case RopeScaling::Kind::kFactors: frequency /= scaling.factors.at(i); break;
    }
    result[i] = static_cast<float>(frequency);
  }
  return result;
}

}  // namespace tilewright
