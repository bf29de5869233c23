// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster: sm_90 and later. Below it they are not to be reached, and stand for a
// cluster of one block.
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright::ptx {

TW_DEVICE uint32_t cluster_ctarank() {
#if TW_DEVICE_PASS && __CUDA_ARCH__ >= 900
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#else
  return 0;
#endif
}

// Every thread of every block of the cluster; their writes before it are seen after it.
TW_DEVICE void barrier_cluster() {
#if TW_DEVICE_PASS && __CUDA_ARCH__ >= 900
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n\t"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
#else
  __syncthreads();
#endif
}

// barrier_cluster in two halves: what a thread did before the first, reads included, comes before
// what follows the second anywhere in the cluster. Between them is room for work of its own.
TW_DEVICE void barrier_cluster_arrive() {
#if TW_DEVICE_PASS && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
TW_DEVICE void barrier_cluster_wait() {
#if TW_DEVICE_PASS && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
}

// The address, in block `rank`, of what this block has at `shared`. That block must not have ended.
template <class T>
TW_DEVICE T* mapa(T* shared, uint32_t rank) {
#if TW_DEVICE_PASS && __CUDA_ARCH__ >= 900
  uint64_t address;
  asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(shared), "r"(rank));
  return reinterpret_cast<T*>(address);
#else
  return shared;
#endif
}

}  // namespace tilewright::ptx
