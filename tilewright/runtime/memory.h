// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "tilewright/runtime/device.h"
#include "tilewright/runtime/stream.h"

namespace tilewright {

// A block of memory of one device. Copies share it; the last one returns it to its pool, in the
// order of the stream that it was allocated on.
class Buffer {
 public:
  Buffer() = default;
  // Throws OutOfMemory with the pool's state when the limit or the device is exhausted. Contents
  // are undefined. At least 256-byte aligned (64 on cpu). Zero bytes give a null pointer.
  static Buffer allocate(const Stream& stream, std::size_t bytes);
  // Page-locked host memory, for copies that overlap with work (plain memory without a GPU).
  static Buffer pinned(std::size_t bytes);
  // Someone else's memory; `owner` is kept alive as long as the buffer is used.
  static Buffer wrap(Device device, void* data, std::size_t bytes,
                     std::shared_ptr<const void> owner);

  void* data() const;
  std::size_t bytes() const;
  Device device() const;
  bool is_pinned() const;
  // Freeing waits for the work that `stream` has been given so far, besides the owning stream.
  void record_use(const Stream& stream) const;
  explicit operator bool() const { return state_ != nullptr; }

 private:
  struct State;
  std::shared_ptr<State> state_;
};

struct PoolStatistics {
  std::size_t in_use = 0, peak_in_use = 0;  // bytes handed out
  std::size_t reserved = 0;                 // bytes taken from the device
  std::size_t limit = 0;                    // 0: none
  std::size_t allocations = 0, failures = 0;
};
PoolStatistics pool_statistics(Device device);
void reset_peak(Device device);
// Allocation beyond `bytes` in use throws OutOfMemory; 0 removes the limit.
void set_pool_limit(Device device, std::size_t bytes);
// Gives unused memory back to the device; keeps at most `keep` bytes in reserve.
void trim_pool(Device device, std::size_t keep = 0);

// While one lives, allocation and compilation by this thread throw InvalidArgument naming what
// was tried: the warm-up missed it.
class RealTimeScope {
 public:
  RealTimeScope();
  ~RealTimeScope();
  RealTimeScope(const RealTimeScope&) = delete;
  RealTimeScope& operator=(const RealTimeScope&) = delete;
  static bool active();
  static void forbid(const char* what);  // throws when active
};

// Asynchronous on cuda when host memory is pinned; ordered on `stream`. Any pair of devices.
void copy_bytes(void* destination, Device to, const void* source, Device from, std::size_t bytes,
                const Stream& stream);
void fill_bytes(void* destination, Device device, int value, std::size_t bytes,
                const Stream& stream);

}  // namespace tilewright
