// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/graph.h"

#include "tilewright/base/error.h"
#include "tilewright/runtime/backend.h"

namespace tilewright {
namespace {

using detail::CapturedGraph;
using detail::StreamState;

void run_deferred(StreamState& stream) {
  std::vector<std::function<void()>> deferred;
  {
    const std::lock_guard lock(stream.mutex);
    stream.capturing = false;
    deferred.swap(stream.after_capture);
  }
  for (const auto& call : deferred) call();
}

std::unique_ptr<CapturedGraph> record(const Stream& handle, const std::function<void()>& work) {
  StreamState& stream = *handle.state();
  TW_CHECK(!stream.capturing, InvalidArgument, "Graph::capture: the stream on ", stream.device,
           " is capturing already");
  stream.backend->begin_capture(stream);
  stream.capturing = true;
  std::unique_ptr<CapturedGraph> graph;
  try {
    work();
    graph = stream.backend->end_capture(stream);
  } catch (...) {
    stream.backend->abort_capture(stream);
    stream.recorded.clear();
    run_deferred(stream);
    throw;
  }
  run_deferred(stream);
  return graph;
}

}  // namespace

struct Graph::State {
  Device device;
  std::unique_ptr<CapturedGraph> graph;
};

Graph Graph::capture(const Stream& stream, const std::function<void()>& work) {
  Graph result;
  result.state_ = std::make_shared<State>(State{stream.device(), record(stream, work)});
  result.state_->graph->instantiate();
  return result;
}

bool Graph::update(const Stream& stream, const std::function<void()>& work) {
  if (!state_) {
    *this = capture(stream, work);
    return false;
  }
  TW_CHECK(stream.device() == state_->device, InvalidArgument, "Graph::update: captured on ",
           state_->device, ", and the stream is on ", stream.device());
  auto fresh = record(stream, work);
  if (state_->graph->update(*fresh)) return true;
  fresh->instantiate();
  state_->graph = std::move(fresh);
  return false;
}

void Graph::replay(const Stream& stream) const {
  TW_CHECK(state_ != nullptr, InvalidArgument, "Graph::replay: nothing was captured");
  TW_CHECK(stream.device() == state_->device, InvalidArgument, "Graph::replay: captured on ",
           state_->device, ", and the stream is on ", stream.device());
  TW_CHECK(!stream.capturing(), InvalidArgument,
           "Graph::replay: the stream is capturing; a graph cannot be replayed into another");
  state_->graph->replay(*stream.state());
}

int Graph::node_count() const { return state_ ? state_->graph->node_count() : 0; }

}  // namespace tilewright
