// SPDX-License-Identifier: Apache-2.0
// How a call is timed, the same for every implementation: warm-up, then the median of many calls,
// each given other operands in turn, so that none is found in a cache where users would be cold.
#pragma once

#include <functional>
#include <vector>

#include "tilewright/runtime/graph.h"

namespace tilewright {

enum class LaunchMode { kStream, kGraph };
const char* name(LaunchMode mode);

struct TimingOptions {
  LaunchMode mode = LaunchMode::kStream;
  int warm_up = 3;
  int repeats = 50;        // samples; the median counts
  double max_seconds = 2;  // fewer samples, at least 5, when one call is long
};

struct Timing {
  double median_us = 0, p99_us = 0, max_us = 0, min_us = 0;
  int samples = 0;
};

// Times call(i) for i = 0, 1, 2, … modulo `rotations`: the operands of call i.
//   cpu   one sample a call, by the steady clock
//   cuda  one sample per `rotations` calls (one graph of them in graph mode), by events, divided
Timing time_calls(const std::function<void(int rotation, const Stream& stream)>& call,
                  int rotations, const Stream& stream, const TimingOptions& options = {});

// How many copies of operands of `bytes` are wanted so that they outgrow every cache: 256 MB or
// four times the cuda device's L2, at most 64 copies.
int rotations_for(std::size_t bytes, Device device);

Timing summary(std::vector<double> microseconds);

}  // namespace tilewright
