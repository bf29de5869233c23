// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

#include "tilewright/ops/_core/pointwise_layout.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// The layout of operands that broadcast to operand 0's shape; throws InvalidArgument naming op and
// shapes when one does not.
PointwiseLayout<2> pointwise_layout(const char* op, const Tensor& y, const Tensor& x);
PointwiseLayout<3> pointwise_layout(const char* op, const Tensor& y, const Tensor& a,
                                    const Tensor& b);

// Calls run(offsets, n) for pieces of the last axis that make up elements [begin, end): `offsets`
// are those of the piece's first element, n is at most `piece`.
template <int kOperands, class Run>
void for_each_run(const PointwiseLayout<kOperands>& layout, std::int64_t begin, std::int64_t end,
                  std::int64_t piece, const Run& run) {
  const int last = layout.rank - 1;
  while (begin < end) {
    std::array<std::int64_t, kOperands> offsets{};
    std::int64_t rest = begin;
    std::int64_t left_in_row = 0;
    for (int axis = last; axis >= 0; --axis) {
      const std::int64_t coordinate = rest % layout.extents[axis];
      rest /= layout.extents[axis];
      if (axis == last) left_in_row = layout.extents[axis] - coordinate;
      for (int k = 0; k < kOperands; ++k) offsets[k] += coordinate * layout.strides[k][axis];
    }
    const std::int64_t n = std::min({left_in_row, end - begin, piece});
    run(offsets, n);
    begin += n;
  }
}

}  // namespace tilewright
