// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "tilewright/runtime/stream.h"

namespace tilewright {

// Work of a stream, captured once and replayed. On cpu the recorded calls are made again.
// Captured work must not synchronise, compile or allocate; doing so throws and names the place.
class Graph {
 public:
  Graph() = default;
  // Runs `work` with `stream` in capture mode; nothing is executed yet.
  static Graph capture(const Stream& stream, const std::function<void()>& work);
  // Captures again and updates the executable in place when the topology is the same, else
  // instantiates anew. Returns whether it was updated in place.
  bool update(const Stream& stream, const std::function<void()>& work);
  void replay(const Stream& stream) const;
  explicit operator bool() const { return state_ != nullptr; }
  int node_count() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tilewright
