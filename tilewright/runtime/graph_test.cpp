// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/graph.h"

#include <gtest/gtest.h>

#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {
namespace {

TEST(StreamOnCpu, RunsAtOnce) {
  const Stream stream(Device::cpu());
  int runs = 0;
  stream.run([&] { ++runs; });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(stream.native(), nullptr);
}

TEST(EventOnCpu, MeasuresTheTimeBetween) {
  const Stream stream(Device::cpu());
  const Event start(Device::cpu(), true), end(Device::cpu(), true), untimed(Device::cpu());
  start.record(stream);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  while (std::chrono::steady_clock::now() < until) {}
  end.record(stream);
  EXPECT_TRUE(end.query());
  EXPECT_GE(end.microseconds_since(start), 2000.0);
  EXPECT_THROW(untimed.microseconds_since(start), InvalidArgument);
}

TEST(GraphOnCpu, RecordsThenReplaysInOrder) {
  const Stream stream(Device::cpu());
  std::vector<int> order;
  const Graph graph = Graph::capture(stream, [&] {
    EXPECT_TRUE(stream.capturing());
    stream.run([&] { order.push_back(1); });
    stream.run([&] { order.push_back(2); });
  });
  EXPECT_FALSE(stream.capturing());
  EXPECT_TRUE(order.empty()) << "captured work ran during the capture";
  EXPECT_EQ(graph.node_count(), 2);
  graph.replay(stream);
  graph.replay(stream);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 1, 2}));
}

TEST(GraphOnCpu, RecordsCopiesAndFills) {
  const Stream stream(Device::cpu());
  const std::vector<float> first{1, 2, 3, 4, 5, 6};
  const Tensor source = Tensor::from_host(first.data(), {2, 3}, DType::f32, stream);
  const Tensor target = Tensor::zeros({3, 2}, DType::f32, stream);
  const Graph graph = Graph::capture(stream, [&] { copy(target, source.transpose(0, 1), stream); });
  EXPECT_EQ(target.data_as<float>()[1], 0.0f);
  source.data_as<float>()[3] = 40;
  graph.replay(stream);
  EXPECT_EQ(target.data_as<float>()[1], 40.0f);
  EXPECT_EQ(target.data_as<float>()[4], 3.0f);
}

TEST(GraphOnCpu, UpdatesInPlaceOnlyWithTheSameTopology) {
  const Stream stream(Device::cpu());
  int value = 0;
  Graph graph = Graph::capture(stream, [&] { stream.run([&] { value = 1; }); });
  EXPECT_TRUE(graph.update(stream, [&] { stream.run([&] { value = 2; }); }));
  graph.replay(stream);
  EXPECT_EQ(value, 2);
  EXPECT_FALSE(graph.update(stream, [&] {
    stream.run([&] { value = 3; });
    stream.run([&] { value += 4; });
  }));
  graph.replay(stream);
  EXPECT_EQ(value, 7);
}

TEST(GraphOnCpu, RefusesWhatACaptureCannotHold) {
  const Stream stream(Device::cpu());
  const Tensor tensor = Tensor::zeros({4}, DType::f32, stream);
  float host[4];
  const auto refused = [&](const char* word, const std::function<void()>& work) {
    try {
      Graph::capture(stream, work);
      ADD_FAILURE() << word << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
    EXPECT_FALSE(stream.capturing()) << "the failed capture did not end";
  };
  refused("allocation of 16 bytes", [&] { Tensor::empty({4}, DType::f32, stream); });
  refused("synchronize", [&] { stream.synchronize(); });
  refused("to_host", [&] { tensor.to_host(host, stream); });
  refused("capturing already", [&] { Graph::capture(stream, [] {}); });
}

TEST(GraphOnCpu, ACaptureThatThrowsLeavesTheStreamUsable) {
  const Stream stream(Device::cpu());
  int runs = 0;
  EXPECT_THROW(Graph::capture(stream,
                              [&] {
                                stream.run([&] { runs += 100; });
                                throw std::runtime_error("user");
                              }),
               std::runtime_error);
  stream.run([&] { ++runs; });
  EXPECT_EQ(runs, 1);
  const Graph graph = Graph::capture(stream, [&] { stream.run([&] { ++runs; }); });
  EXPECT_EQ(graph.node_count(), 1) << "the failed capture's calls were kept";
}

TEST(GraphOnCpu, MemoryFreedDuringACaptureIsFreedAfterIt) {
  const Stream stream(Device::cpu());
  const std::size_t before = pool_statistics(Device::cpu()).in_use;
  Tensor tensor = Tensor::zeros({1000}, DType::f32, stream);
  Graph::capture(stream, [&] { tensor = Tensor(); });
  EXPECT_EQ(pool_statistics(Device::cpu()).in_use, before);
}

}  // namespace
}  // namespace tilewright
