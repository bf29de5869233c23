// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies of contiguous bytes. sm_90 and later. Addresses are aligned to 16 bytes and
// sizes are multiples of 16.
#pragma once

#include "tilewright/device/ptx/mbarrier.h"

namespace tilewright::ptx {

// Completes on `barrier` by its byte count.
TW_DEVICE void cp_async_bulk(void* shared, const void* global, uint32_t bytes, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(shared)),
      "l"(global), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

// The same for data that is read once: it leaves the L2 first.
TW_DEVICE void cp_async_bulk_evict_first(void* shared, const void* global, uint32_t bytes,
                                         uint64_t* barrier) {
  asm volatile(
      "{ .reg .b64 policy; createpolicy.fractional.L2::evict_first.b64 policy, 1.0; "
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], policy; }" ::"r"(shared_address(shared)),
      "l"(global), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

// Brings the bytes into the L2.
TW_DEVICE void cp_async_bulk_prefetch(const void* global, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(global), "r"(bytes) : "memory");
}

// Orders this thread's ordinary accesses of shared memory before asynchronous copies that follow
// the next barrier.
TW_DEVICE void fence_proxy_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace tilewright::ptx
