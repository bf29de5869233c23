// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/cuda/cuda_pool.h"

namespace tilewright::cuda {

CudaPool::CudaPool(int device, Ordinal ordinal) : device_(device), ordinal_(ordinal) {
  int supported = 0;
  TW_CU(device_, cuDeviceGetAttribute(&supported, kPoolsSupported, ordinal));
  if (supported == 0) return;
  MemoryPoolProperties properties;
  properties.location.id = ordinal;
  TW_CU(device_, cuMemPoolCreate(&pool_, &properties));
  std::uint64_t keep = UINT64_MAX;
  TW_CU(device_, cuMemPoolSetAttribute(pool_, kPoolReleaseThreshold, &keep));
}

void* CudaPool::allocate(std::size_t bytes, StreamHandle stream) {
  Pointer data = 0;
  const auto once = [&] {
    return pool_ != nullptr ? driver().cuMemAllocFromPoolAsync(&data, bytes, pool_, stream)
                            : driver().cuMemAlloc(&data, bytes);
  };
  Result result = once();
  if (result == kErrorOutOfMemory) {
    // Freed blocks of other streams become reusable once their work is done.
    TW_CU(device_, cuStreamSynchronize(stream));
    trim(0);
    result = once();
  }
  if (result == kErrorOutOfMemory) return nullptr;
  check(result, "cuMemAllocFromPoolAsync", device_);
  return reinterpret_cast<void*>(data);
}

void CudaPool::release(void* data, StreamHandle stream) noexcept {
  // Errors have no one to go to here: a failed device has lost its memory anyway.
  const auto address = reinterpret_cast<Pointer>(data);
  if (pool_ != nullptr) {
    driver().cuMemFreeAsync(address, stream);
  } else {
    driver().cuStreamSynchronize(stream);
    driver().cuMemFree(address);
  }
}

std::size_t CudaPool::reserved_bytes() const {
  std::uint64_t bytes = 0;
  if (pool_ != nullptr) TW_CU(device_, cuMemPoolGetAttribute(pool_, kPoolReservedCurrent, &bytes));
  return std::size_t(bytes);
}

void CudaPool::trim(std::size_t keep) {
  if (pool_ != nullptr) TW_CU(device_, cuMemPoolTrimTo(pool_, keep));
}

void CudaPool::allow_access(Ordinal peer) {
  if (pool_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (!peers_.insert(peer).second) return;
  int possible = 0;
  TW_CU(device_, cuDeviceCanAccessPeer(&possible, peer, ordinal_));
  if (possible == 0) return;  // the driver stages the copies
  MemoryAccess access;
  access.location.id = peer;
  TW_CU(device_, cuMemPoolSetAccess(pool_, &access, 1));
}

}  // namespace tilewright::cuda
