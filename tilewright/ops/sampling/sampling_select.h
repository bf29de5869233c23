// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tilewright {

// The largest key T for which the sum of the weights of keys >= T reaches `target` >= 1; 0 when
// even all of them do not. weights may be null: every key weighs 1.
std::uint32_t select_key(const std::uint32_t* keys, const std::uint64_t* weights, std::int64_t n,
                         std::uint64_t target);

}  // namespace tilewright
