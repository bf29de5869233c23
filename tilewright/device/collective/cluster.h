// SPDX-License-Identifier: Apache-2.0
// Work of the blocks of a cluster together. kCluster = 1 needs no cluster launch.
#pragma once

#include "tilewright/device/collective/reduce.h"
#include "tilewright/device/ptx/cluster.h"

namespace tilewright {

template <int kCluster>
TW_DEVICE int cluster_rank() {
  return kCluster == 1 ? 0 : int(ptx::cluster_ctarank());
}

template <int kCluster>
TW_DEVICE void cluster_barrier() {
  if constexpr (kCluster == 1) {
    __syncthreads();
  } else {
    ptx::barrier_cluster();
  }
}

// The reduction over kThreads threads of each of kCluster blocks, in the order of their ranks; all
// receive it. Ends with a barrier, so that no block is read after it has gone.
template <int kThreads, int kCluster, class T, class Operation>
TW_DEVICE T cluster_reduce(T value, Operation operation) {
  value = threads_reduce<kThreads>(value, operation);
  if constexpr (kCluster > 1) {
    __shared__ T mine;
    if (threadIdx.x == 0) mine = value;
    ptx::barrier_cluster();
    value = *ptx::mapa(&mine, 0);
    TW_UNROLL
    for (int rank = 1; rank < kCluster; ++rank) value = operation(value, *ptx::mapa(&mine, rank));
    ptx::barrier_cluster();
  }
  return value;
}

}  // namespace tilewright
