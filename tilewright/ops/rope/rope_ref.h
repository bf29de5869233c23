// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "tilewright/ops/rope/rope.h"

namespace tilewright::ref {

// One head, in place. The angle is rounded to float32 as the op's is: position times frequency.
inline void rope(double* head, std::int32_t position, const std::vector<float>& frequencies,
                 RopePairing pairing) {
  const std::size_t pairs = frequencies.size();
  for (std::size_t i = 0; i < pairs; ++i) {
    const bool interleaved = pairing == RopePairing::kInterleaved;
    double& first = head[interleaved ? 2 * i : i];
    double& second = head[interleaved ? 2 * i + 1 : i + pairs];
    const double angle = double(float(position) * frequencies[i]);
    const double a = first, b = second;
    first = a * std::cos(angle) - b * std::sin(angle);
    second = b * std::cos(angle) + a * std::sin(angle);
  }
}

}  // namespace tilewright::ref
