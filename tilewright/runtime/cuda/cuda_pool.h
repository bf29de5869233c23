// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <set>

#include "tilewright/runtime/cuda/driver.h"

namespace tilewright::cuda {

// The driver's stream-ordered allocator with a pool of our own: it keeps memory at
// synchronisation, and other users of the device keep theirs. GPUs without pools (some virtual
// ones) get plain allocations, which wait for the stream when they are freed.
class CudaPool {
 public:
  CudaPool(int device, Ordinal ordinal);
  // nullptr when the device has no more memory.
  void* allocate(std::size_t bytes, StreamHandle stream);
  void release(void* data, StreamHandle stream) noexcept;
  std::size_t reserved_bytes() const;
  void trim(std::size_t keep);
  void allow_access(Ordinal peer);

 private:
  int device_;
  Ordinal ordinal_;
  MemoryPool pool_ = nullptr;
  std::mutex mutex_;  // of peers_
  std::set<Ordinal> peers_;
};

}  // namespace tilewright::cuda
