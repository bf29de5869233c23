// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "tilewright/runtime/device.h"

namespace tilewright {

namespace detail {
struct StreamState;
struct EventState;
}  // namespace detail

class Event;

// An ordered queue of work on one device; a cheap handle that shares its queue when copied.
// Belongs to one thread at a time. On cpu, work runs at once, in the calling thread, or is
// recorded while a Graph captures.
class Stream {
 public:
  explicit Stream(Device device);
  Device device() const;
  // Blocks until all work given so far is done; throws DeviceError for an earlier fault.
  void synchronize() const;
  // Work given after this waits for what the event recorded.
  void wait(const Event& event) const;
  bool capturing() const;
  // Host work in stream order, for devices whose kernels are host functions (cpu). Ops use it:
  // stream.run([=] { rms_norm_cpu(args); }). Throws Unsupported on cuda.
  void run(std::function<void()> work) const;
  // CUstream on cuda, nullptr elsewhere.
  void* native() const;
  const std::shared_ptr<detail::StreamState>& state() const { return state_; }

 private:
  std::shared_ptr<detail::StreamState> state_;
};

class Event {
 public:
  explicit Event(Device device, bool timing = false);
  void record(const Stream& stream) const;
  void synchronize() const;
  bool query() const;
  // Microseconds from `start` to this event; both were made with timing and have happened.
  double microseconds_since(const Event& start) const;
  void* native() const;
  const std::shared_ptr<detail::EventState>& state() const { return state_; }

 private:
  std::shared_ptr<detail::EventState> state_;
};

}  // namespace tilewright
