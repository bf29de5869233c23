// SPDX-License-Identifier: Apache-2.0
// Page-locking costs milliseconds, so freed blocks are kept and reused by size.
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "tilewright/runtime/backend.h"

namespace tilewright::detail {
namespace {

constexpr std::size_t kGranule = 4096;

std::size_t rounded(std::size_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }

struct Pending {
  void* data;
  std::size_t bytes;
  std::vector<std::shared_ptr<EventState>> uses;
};

class PinnedPool {
 public:
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    collect();
    const auto found = free_.lower_bound(bytes);
    // A block twice as large as asked for would be wasted on it.
    if (found == free_.end() || found->first > 2 * bytes) return nullptr;
    void* data = found->second;
    sizes_[data] = found->first;
    free_.erase(found);
    return data;
  }

  void add(void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    sizes_[data] = bytes;
  }

  void give(void* data, std::vector<std::shared_ptr<EventState>> uses) {
    const std::lock_guard lock(mutex_);
    pending_.push_back({data, sizes_.at(data), std::move(uses)});
    sizes_.erase(data);
    collect();
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    collect();
    for (const auto& [bytes, data] : free_) {
      if (locked_)
        cuda_release_host(data);
      else
        std::free(data);
    }
    free_.clear();
  }

  bool locked() const { return locked_; }

 private:
  // A device that has failed runs nothing any more; its error is told by whoever waits for it.
  static bool has_happened(const EventState& event) noexcept {
    try {
      return event.backend->query(event);
    } catch (...) {
      return true;
    }
  }

  // Blocks whose last use has happened become free.
  void collect() {
    std::erase_if(pending_, [this](Pending& block) {
      for (const auto& event : block.uses) {
        if (!has_happened(*event)) return false;
      }
      free_.emplace(block.bytes, block.data);
      return true;
    });
  }

  std::mutex mutex_;
  std::multimap<std::size_t, void*> free_;
  std::map<void*, std::size_t> sizes_;
  std::vector<Pending> pending_;
  const bool locked_ = cuda_device_count() > 0;
};

// Never destroyed: buffers of static lifetime may outlive any order of destruction.
PinnedPool& pool() {
  static auto* instance = new PinnedPool;
  return *instance;
}

}  // namespace

void* allocate_pinned(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  if (void* data = pool().take(size)) return data;
  const auto fresh = [&] {
    return pool().locked() ? cuda_allocate_host(size) : std::aligned_alloc(kGranule, size);
  };
  void* data = fresh();
  if (data == nullptr) {
    pool().trim();
    data = fresh();
  }
  if (data != nullptr) pool().add(data, size);
  return data;
}

void release_pinned(void* data, std::size_t,
                    std::vector<std::shared_ptr<EventState>> uses) noexcept {
  pool().give(data, std::move(uses));
}

void trim_pinned() { pool().trim(); }

}  // namespace tilewright::detail
