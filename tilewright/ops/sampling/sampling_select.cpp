// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/sampling/sampling_select.h"

#include <array>

namespace tilewright {

// Eight bits at a time from the top: a histogram of the weights by digit says which digit holds
// the threshold, and only its keys count from then on.
std::uint32_t select_key(const std::uint32_t* keys, const std::uint64_t* weights, std::int64_t n,
                         std::uint64_t target) {
  std::uint32_t prefix = 0, mask = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    std::array<std::uint64_t, 256> sums{};
    for (std::int64_t i = 0; i < n; ++i) {
      if ((keys[i] & mask) != prefix) continue;
      sums[(keys[i] >> shift) & 255u] += weights == nullptr ? 1 : weights[i];
    }
    int digit = 255;
    while (digit > 0 && sums[std::size_t(digit)] < target) target -= sums[std::size_t(digit--)];
    if (sums[std::size_t(digit)] < target) return 0;
    prefix |= std::uint32_t(digit) << shift;
    mask |= 255u << shift;
  }
  return prefix;
}

}  // namespace tilewright
