// SPDX-License-Identifier: Apache-2.0
// One cluster a row. Bound: memory (L2 after a matrix product); latency at one row.
#pragma once

#include "tilewright/device/ptx/griddepcontrol.h"
#include "tilewright/ops/_core/row_argmax.cuh"
#include "tilewright/ops/argmax/argmax_args.h"

namespace tilewright {

template <class X, int kCluster>
TW_KERNEL(kArgmaxThreads)
argmax_rows(const TW_GRID_CONSTANT ArgmaxArgs args) {
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  const int64_t row = blockIdx.x / kCluster;
  const X* x = static_cast<const X*>(args.x) + row * args.x_stride;
  const int32_t index = row_argmax<kCluster>(x, args.cols);
  if (cluster_rank<kCluster>() == 0 && threadIdx.x == 0) args.indices[row] = index;
}

}  // namespace tilewright
