// SPDX-License-Identifier: Apache-2.0
// One cluster of 1024-thread blocks a row: argmax and sampling.
#pragma once

#include "tilewright/ops/_core/kernel_names.h"

namespace tilewright {

inline constexpr int kRowClusters[] = {1, 8};

// Depends on the length and the architecture alone: the rows beside one do not change it.
inline int row_cluster(std::int64_t cols, const Stream& stream) {
  const bool has_clusters = properties(stream.device()).arch.number() >= 90;
  return has_clusters && cols > 8192 ? 8 : 1;
}

inline LaunchShape row_cluster_shape(std::int64_t rows, int cluster, const char* op) {
  LaunchShape shape = row_of_blocks(rows * cluster, 1024, op);
  shape.cluster = static_cast<std::uint32_t>(cluster);
  return shape;
}

}  // namespace tilewright
