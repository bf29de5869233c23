// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright {

inline constexpr int kMaxPointwiseRank = 8;

// Where the elements of an elementwise op's operands lie; operand 0 is the result. Axes that can be
// walked as one are already merged, outermost first, and an operand that is broadcast along an axis
// has stride 0 there. rank is at least 1; rank 1 with strides of 1 is the contiguous case.
template <int kOperands>
struct PointwiseLayout {
  int64_t count;  // elements of the result
  int64_t extents[kMaxPointwiseRank];
  int64_t strides[kOperands][kMaxPointwiseRank];  // in elements
  int32_t rank;
};

}  // namespace tilewright
