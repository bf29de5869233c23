// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/memory.h"

#include <mutex>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/runtime/backend.h"

namespace tilewright {

using detail::EventState;
using detail::StreamState;

namespace {

void charge(detail::Backend& backend, Device device, std::size_t bytes) {
  if (backend.pool.charge(bytes)) [[likely]]
    return;
  const PoolStatistics state = backend.pool.statistics();
  TW_FAIL(OutOfMemory, device, ": an allocation of ", bytes,
          " bytes passes the pool's limit: ", state.in_use, " of ", state.limit,
          " bytes are in use (", backend.reserved_bytes(),
          " reserved); free tensors or raise the limit (set_pool_limit)");
}

}  // namespace

struct Buffer::State {
  Device device;
  void* data = nullptr;
  std::size_t bytes = 0;
  bool pinned = false;
  std::shared_ptr<const void> owner;    // foreign memory
  std::shared_ptr<StreamState> stream;  // pool memory
  std::mutex mutex;                     // of uses
  std::vector<std::pair<std::shared_ptr<StreamState>, std::shared_ptr<EventState>>> uses;

  ~State() {
    if (data == nullptr) return;
    if (pinned) {
      release_pinned_block();
    } else if (stream) {
      release_to_pool();
    }
  }

  void release_pinned_block() noexcept {
    std::vector<std::shared_ptr<EventState>> events;
    for (auto& [user, event] : uses) events.push_back(std::move(event));
    detail::cpu_backend().pool.discharge(bytes);
    detail::release_pinned(data, bytes, std::move(events));
  }

  void release_to_pool() noexcept {
    detail::Backend& backend = *stream->backend;
    backend.pool.discharge(bytes);
    auto free = [owner_stream = stream, memory = data, users = std::move(uses)] {
      for (const auto& [user, event] : users) {
        try {
          owner_stream->backend->wait(*owner_stream, *event);
        } catch (...) {  // a device that has failed has nothing left to order
        }
      }
      owner_stream->backend->release(memory, *owner_stream);
    };
    {
      const std::lock_guard lock(stream->mutex);
      if (stream->capturing) return stream->after_capture.push_back(std::move(free));
    }
    free();
  }
};

Buffer Buffer::allocate(const Stream& stream, std::size_t bytes) {
  Buffer buffer;
  buffer.state_ = std::make_shared<State>();
  buffer.state_->device = stream.device();
  if (bytes == 0) return buffer;
  RealTimeScope::forbid("memory allocation");
  TW_CHECK(!stream.capturing(), InvalidArgument, "allocation of ", bytes, " bytes on ",
           stream.device(), " inside a graph capture; allocate before the capture");
  detail::Backend& backend = *stream.state()->backend;
  charge(backend, stream.device(), bytes);
  void* data = nullptr;
  try {
    data = backend.allocate(bytes, *stream.state());
  } catch (...) {
    backend.pool.discharge(bytes);
    throw;
  }
  if (data == nullptr) {
    backend.pool.discharge(bytes);
    backend.pool.count_failure();
    TW_FAIL(OutOfMemory, stream.device(), ": out of memory: wanted ", bytes, " bytes; ",
            backend.pool.statistics().in_use, " are in use, ", backend.reserved_bytes(),
            " reserved by this pool, of ", backend.properties().memory_bytes,
            " on the device; free tensors or use smaller ones");
  }
  buffer.state_->data = data;
  buffer.state_->bytes = bytes;
  buffer.state_->stream = stream.state();
  return buffer;
}

Buffer Buffer::pinned(std::size_t bytes) {
  Buffer buffer;
  buffer.state_ = std::make_shared<State>();
  if (bytes == 0) return buffer;
  RealTimeScope::forbid("pinned memory allocation");
  detail::Backend& host = detail::cpu_backend();
  charge(host, Device::cpu(), bytes);
  void* data = detail::allocate_pinned(bytes);
  if (data == nullptr) {
    host.pool.discharge(bytes);
    host.pool.count_failure();
    TW_FAIL(OutOfMemory, "pinned host memory: the system refused ", bytes, " bytes");
  }
  buffer.state_->data = data;
  buffer.state_->bytes = bytes;
  buffer.state_->pinned = true;
  return buffer;
}

Buffer Buffer::wrap(Device device, void* data, std::size_t bytes,
                    std::shared_ptr<const void> owner) {
  Buffer buffer;
  buffer.state_ = std::make_shared<State>();
  buffer.state_->device = device;
  buffer.state_->data = data;
  buffer.state_->bytes = bytes;
  buffer.state_->owner = std::move(owner);
  return buffer;
}

void* Buffer::data() const { return state_ ? state_->data : nullptr; }
std::size_t Buffer::bytes() const { return state_ ? state_->bytes : 0; }
Device Buffer::device() const { return state_ ? state_->device : Device::cpu(); }
bool Buffer::is_pinned() const { return state_ && state_->pinned; }

void Buffer::record_use(const Stream& stream) const {
  // A capture runs nothing yet: its graph's user keeps the buffer alive.
  if (!state_ || stream.capturing() || stream.device().is_cpu()) return;
  if (!state_->pinned && (!state_->stream || state_->stream == stream.state())) return;
  const std::lock_guard lock(state_->mutex);
  for (auto& [user, event] : state_->uses) {
    if (user == stream.state()) return user->backend->record(event, *user);
  }
  auto event = std::make_shared<EventState>(stream.device(), false);
  event->backend->record(event, *stream.state());
  state_->uses.emplace_back(stream.state(), std::move(event));
}

}  // namespace tilewright
