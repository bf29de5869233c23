// SPDX-License-Identifier: Apache-2.0
#include "tilewright/harness/timing.h"

#include <algorithm>
#include <chrono>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;
using Call = std::function<void(int, const Stream&)>;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Calls sample() until there are enough samples or the time is used up.
Timing take_samples(const TimingOptions& options, const std::function<double()>& sample) {
  constexpr int kFewest = 5;
  std::vector<double> samples;
  const auto start = Clock::now();
  while (int(samples.size()) < options.repeats) {
    samples.push_back(sample());
    const bool late = microseconds_since(start) > options.max_seconds * 1e6;
    if (late && int(samples.size()) >= kFewest) break;
  }
  return summary(std::move(samples));
}

Timing time_on_cpu(const Call& call, int rotations, const Stream& stream,
                   const TimingOptions& options) {
  std::vector<Graph> graphs;
  if (options.mode == LaunchMode::kGraph) {
    for (int i = 0; i < rotations; ++i) {
      graphs.push_back(Graph::capture(stream, [&] { call(i, stream); }));
    }
  }
  int turn = 0;
  return take_samples(options, [&] {
    const int rotation = turn++ % rotations;
    const auto start = Clock::now();
    graphs.empty() ? call(rotation, stream) : graphs[std::size_t(rotation)].replay(stream);
    stream.synchronize();
    return microseconds_since(start);
  });
}

Timing time_on_cuda(const Call& call, int rotations, const Stream& stream,
                    const TimingOptions& options) {
  const auto all = [&] {
    for (int i = 0; i < rotations; ++i) call(i, stream);
  };
  Graph graph;
  if (options.mode == LaunchMode::kGraph) graph = Graph::capture(stream, all);
  const Event start(stream.device(), true), end(stream.device(), true);
  return take_samples(options, [&] {
    start.record(stream);
    graph ? graph.replay(stream) : all();
    end.record(stream);
    end.synchronize();
    return end.microseconds_since(start) / rotations;
  });
}

}  // namespace

const char* name(LaunchMode mode) { return mode == LaunchMode::kGraph ? "graph" : "stream"; }

Timing summary(std::vector<double> microseconds) {
  TW_CHECK(!microseconds.empty(), InvalidArgument, "summary: got no samples");
  std::sort(microseconds.begin(), microseconds.end());
  const std::size_t count = microseconds.size();
  return {microseconds[count / 2], microseconds[std::min(count - 1, count * 99 / 100)],
          microseconds.back(), microseconds.front(), int(count)};
}

int rotations_for(std::size_t bytes, Device device) {
  std::size_t wanted = std::size_t{256} << 20;
  if (device.is_cuda()) wanted = std::max(wanted, 4 * properties(device).l2_bytes);
  return int(std::clamp<std::size_t>(wanted / std::max<std::size_t>(bytes, 1) + 1, 1, 64));
}

Timing time_calls(const Call& call, int rotations, const Stream& stream,
                  const TimingOptions& options) {
  TW_CHECK(rotations >= 1, InvalidArgument, "time_calls: rotations: got ", rotations,
           "; takes 1 or more");
  for (int i = 0; i < options.warm_up; ++i) call(i % rotations, stream);
  stream.synchronize();
  return stream.device().is_cuda() ? time_on_cuda(call, rotations, stream, options)
                                   : time_on_cpu(call, rotations, stream, options);
}

}  // namespace tilewright
