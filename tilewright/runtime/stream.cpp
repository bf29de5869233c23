// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/stream.h"

#include "tilewright/base/error.h"
#include "tilewright/runtime/backend.h"

namespace tilewright {
namespace detail {

StreamState::StreamState(Device where) : device(where), backend(&detail::backend(where)) {
  native = backend->create_stream();
}
StreamState::~StreamState() { backend->destroy_stream(native); }

EventState::EventState(Device where, bool with_timing)
    : device(where), backend(&detail::backend(where)), timing(with_timing) {
  native = backend->create_event(timing);
}
EventState::~EventState() { backend->destroy_event(native); }

}  // namespace detail

Stream::Stream(Device device) : state_(std::make_shared<detail::StreamState>(device)) {}

Device Stream::device() const { return state_->device; }

void Stream::synchronize() const {
  TW_CHECK(!capturing(), InvalidArgument, "Stream::synchronize: the stream on ", device(),
           " is capturing a graph; synchronise before or after the capture");
  state_->backend->synchronize(*state_);
}

void Stream::wait(const Event& event) const {
  // What the cpu was given has been done; a GPU's event makes the cpu's stream block.
  const detail::EventState& what = *event.state();
  if (what.device.is_cpu()) return;
  if (device().is_cpu()) return event.synchronize();
  state_->backend->wait(*state_, what);
}

bool Stream::capturing() const { return state_->capturing; }

void Stream::run(std::function<void()> work) const {
  TW_CHECK(device().is_cpu(), Unsupported, "Stream::run: host functions run on cpu, not on ",
           device(), "; launch a kernel instead");
  if (state_->capturing)
    state_->recorded.push_back(std::move(work));
  else
    work();
}

void* Stream::native() const { return state_->native; }

Event::Event(Device device, bool timing)
    : state_(std::make_shared<detail::EventState>(device, timing)) {}

void Event::record(const Stream& stream) const {
  TW_CHECK(stream.device() == state_->device, InvalidArgument, "Event::record: the event is of ",
           state_->device, " and the stream of ", stream.device());
  state_->backend->record(state_, *stream.state());
}

void Event::synchronize() const { state_->backend->synchronize(*state_); }
bool Event::query() const { return state_->backend->query(*state_); }

double Event::microseconds_since(const Event& start) const {
  TW_CHECK(state_->timing && start.state_->timing, InvalidArgument,
           "Event::microseconds_since: both events must be made with timing = true");
  TW_CHECK(state_->device == start.state_->device, InvalidArgument,
           "Event::microseconds_since: the events are of ", start.state_->device, " and ",
           state_->device);
  return state_->backend->microseconds(*start.state_, *state_);
}

void* Event::native() const { return state_->native; }

}  // namespace tilewright
