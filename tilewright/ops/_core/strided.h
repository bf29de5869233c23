// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tilewright/base/dtype.h"

namespace tilewright {

inline constexpr std::int64_t kStridedPiece = 1024;  // elements that a cpu op handles at a time

// n floats, `step` elements apart from element `offset` on; step 0 repeats one element.
void read_strided(DType dtype, const void* source, std::int64_t offset, std::int64_t step,
                  float* destination, std::int64_t n);
void write_strided(DType dtype, const float* source, void* destination, std::int64_t offset,
                   std::int64_t step, std::int64_t n);

}  // namespace tilewright
