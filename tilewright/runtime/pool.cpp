// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/runtime/backend.h"

namespace tilewright {
namespace detail {

bool PoolCounter::charge(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::size_t limit = statistics_.limit;
  if (limit != 0 && (bytes > limit || statistics_.in_use > limit - bytes)) {
    ++statistics_.failures;
    return false;
  }
  statistics_.in_use += bytes;
  statistics_.peak_in_use = std::max(statistics_.peak_in_use, statistics_.in_use);
  ++statistics_.allocations;
  return true;
}

void PoolCounter::discharge(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  statistics_.in_use -= bytes;
}

void PoolCounter::count_failure() {
  const std::lock_guard lock(mutex_);
  ++statistics_.failures;
}

PoolStatistics PoolCounter::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void PoolCounter::reset_peak() {
  const std::lock_guard lock(mutex_);
  statistics_.peak_in_use = statistics_.in_use;
}

void PoolCounter::set_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  statistics_.limit = bytes;
}

}  // namespace detail

PoolStatistics pool_statistics(Device device) {
  detail::Backend& backend = detail::backend(device);
  PoolStatistics statistics = backend.pool.statistics();
  statistics.reserved = backend.reserved_bytes();
  return statistics;
}

void reset_peak(Device device) { detail::backend(device).pool.reset_peak(); }

void set_pool_limit(Device device, std::size_t bytes) {
  detail::backend(device).pool.set_limit(bytes);
}

void trim_pool(Device device, std::size_t keep) {
  if (device.is_cpu()) detail::trim_pinned();
  detail::backend(device).trim(keep);
}

namespace {
thread_local int real_time_depth = 0;
}

RealTimeScope::RealTimeScope() { ++real_time_depth; }
RealTimeScope::~RealTimeScope() { --real_time_depth; }
bool RealTimeScope::active() { return real_time_depth > 0; }
void RealTimeScope::forbid(const char* what) {
  TW_CHECK(!active(), InvalidArgument, "real-time mode: ", what,
           " is not allowed here; the warm-up must reach every shape and path once before");
}

}  // namespace tilewright
