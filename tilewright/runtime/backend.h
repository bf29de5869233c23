// SPDX-License-Identifier: Apache-2.0
// What a kind of device does for the runtime. Internal: users see Device, Stream, Buffer, Graph.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tilewright/base/shape.h"
#include "tilewright/runtime/device.h"
#include "tilewright/runtime/memory.h"
#include "tilewright/runtime/stream.h"

namespace tilewright::detail {

class Backend;

struct StreamState {
  Device device;
  Backend* backend = nullptr;
  void* native = nullptr;
  std::atomic<bool> capturing = false;
  std::vector<std::function<void()>> recorded;  // cpu: the calls of the running capture
  std::mutex mutex;                             // of after_capture: any thread may free
  std::vector<std::function<void()>> after_capture;

  explicit StreamState(Device where);
  ~StreamState();
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;
};

struct EventState {
  Device device;
  Backend* backend = nullptr;
  void* native = nullptr;
  bool timing = false;
  std::chrono::steady_clock::time_point time;  // cpu

  EventState(Device where, bool with_timing);
  ~EventState();
  EventState(const EventState&) = delete;
  EventState& operator=(const EventState&) = delete;
};

// Elements of `unit` bytes; strides in bytes. Axes are merged as far as both layouts allow, so
// that rank 1 with strides of `unit` means one straight copy.
struct StridedCopy {
  Shape extents, to_strides, from_strides;
  std::int64_t unit = 1;
  void* to = nullptr;
  const void* from = nullptr;
};

// Rows of `width` bytes.
struct RowCopy {
  void* to = nullptr;
  const void* from = nullptr;
  std::int64_t to_pitch = 0, from_pitch = 0, width = 0, rows = 0;
  bool to_host = false, from_host = false;
};

// A captured graph. Destroyed after the last replay was given to a stream.
class CapturedGraph {
 public:
  virtual ~CapturedGraph() = default;
  virtual void instantiate() = 0;
  // Takes the parameters of `fresh` when the topology is the same; false when it is not.
  virtual bool update(CapturedGraph& fresh) = 0;
  virtual void replay(StreamState& stream) = 0;
  virtual int node_count() const = 0;
};

// Bytes in use of one device, and the limit on them. Thread-safe.
class PoolCounter {
 public:
  // False, and counted as a failure, when the limit does not allow it.
  bool charge(std::size_t bytes);
  void discharge(std::size_t bytes);
  void count_failure();
  PoolStatistics statistics() const;
  void reset_peak();
  void set_limit(std::size_t bytes);

 private:
  mutable std::mutex mutex_;
  PoolStatistics statistics_;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const DeviceProperties& properties() const = 0;

  virtual void* create_stream() = 0;
  virtual void destroy_stream(void* stream) noexcept = 0;
  virtual void synchronize(StreamState& stream) = 0;
  virtual void wait(StreamState& stream, const EventState& event) = 0;

  virtual void* create_event(bool timing) = 0;
  virtual void destroy_event(void* event) noexcept = 0;
  virtual void record(const std::shared_ptr<EventState>& event, StreamState& stream) = 0;
  virtual void synchronize(const EventState& event) = 0;
  virtual bool query(const EventState& event) = 0;
  virtual double microseconds(const EventState& start, const EventState& end) = 0;

  // nullptr when the device has no more; the limit is checked before.
  virtual void* allocate(std::size_t bytes, StreamState& stream) = 0;
  virtual void release(void* data, StreamState& stream) noexcept = 0;
  virtual std::size_t reserved_bytes() = 0;
  virtual void trim(std::size_t keep) = 0;

  // Any pair of addresses that this backend's stream can reach.
  virtual void copy(void* to, const void* from, std::size_t bytes, StreamState& stream) = 0;
  virtual void copy_rows(const RowCopy& copy, StreamState& stream) = 0;
  virtual void copy_strided(const StridedCopy& copy, const Stream& stream) = 0;
  virtual void fill(void* data, int value, std::size_t bytes, StreamState& stream) = 0;

  // Lets kernels and copies of this device use memory of another one of its kind.
  virtual void reach(Device) {}

  virtual void begin_capture(StreamState& stream) = 0;
  virtual std::unique_ptr<CapturedGraph> end_capture(StreamState& stream) = 0;
  virtual void abort_capture(StreamState& stream) noexcept = 0;

  PoolCounter pool;
};

// Throws NotFound, LibraryError or Unsupported when the machine lacks the device.
Backend& backend(Device device);
Backend& cpu_backend();

// The kind's devices; 0 without its driver.
int cuda_device_count() noexcept;
Backend& cuda_backend(int index);
// Why there is no usable GPU, in words; empty when there is one.
std::string cuda_absence();

// Page-locked when a GPU is there. The pool keeps freed blocks until trim_pinned().
void* allocate_pinned(std::size_t bytes);
void release_pinned(void* data, std::size_t bytes,
                    std::vector<std::shared_ptr<EventState>> uses) noexcept;
void trim_pinned();
// The driver's side of it: nullptr when it refuses or there is no driver.
void* cuda_allocate_host(std::size_t bytes) noexcept;
void cuda_release_host(void* data) noexcept;
// One kernel that copies any strides within a GPU.
void launch_strided_copy(const StridedCopy& copy, const Stream& stream);

}  // namespace tilewright::detail
