// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tilewright/ops/_core/kernel_names.h"
#include "tilewright/ops/_core/pointwise_layout.h"

namespace tilewright {

inline constexpr std::int64_t kPointwiseBlock = 256 * 8;  // elements of a block

// Whether an operand may be walked eight elements at a time: neighbours in memory, every such run
// starting on 16 bytes and inside one row. With one axis the last run may be short.
template <int kOperands>
bool pointwise_vectors(const PointwiseLayout<kOperands>& layout,
                       const void* const (&pointers)[kOperands]) {
  const int last = layout.rank - 1;
  if (last > 0 && layout.extents[last] % 8 != 0) return false;
  for (int k = 0; k < kOperands; ++k) {
    if (reinterpret_cast<std::uintptr_t>(pointers[k]) % 16 != 0) return false;
    if (layout.strides[k][last] != 1) return false;
    for (int axis = 0; axis < last; ++axis) {
      if (layout.strides[k][axis] % 8 != 0) return false;
    }
  }
  return true;
}

template <int kOperands>
LaunchShape pointwise_shape(const PointwiseLayout<kOperands>& layout, const char* op) {
  return row_of_blocks(ceil_div(layout.count, kPointwiseBlock), 256, op);
}

}  // namespace tilewright
