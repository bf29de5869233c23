// SPDX-License-Identifier: Apache-2.0
// Streams, events and graphs on a GPU.
#include <functional>
#include <stdexcept>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/runtime/cuda/cuda_test_internal.h"
#include "tilewright/runtime/graph.h"
#include "tilewright/runtime/jit/kernel.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {
namespace {

constexpr const char* kSource = R"(
extern "C++" __global__ void add(int* data, int value, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] += value;
}
extern "C++" __global__ void wait_then_write(int* data, long long cycles, int value) {
  long long begin = clock64();
  while (clock64() - begin < cycles) {}
  data[0] = value;
})";

class StreamCuda : public CudaTest {
 protected:
  static std::vector<int> values(const Tensor& tensor, const Stream& stream) {
    std::vector<int> result(std::size_t(tensor.numel()));
    tensor.to_host(result.data(), stream);
    return result;
  }
  static LaunchShape blocks(unsigned count) { return {{(count + 127) / 128}, {128}}; }
};

TEST_F(StreamCuda, EventsOrderTwoStreams) {
  const Stream first(Device::cuda(0)), second(Device::cuda(0));
  const Kernel slow = Kernel::compile(kSource, "wait_then_write", first);
  const Kernel add = Kernel::compile(kSource, "add", first);
  const Tensor data = Tensor::zeros({1}, DType::i32, first);
  first.synchronize();
  const Event done(Device::cuda(0));
  slow({}, first, data, std::int64_t(20'000'000), 5);
  done.record(first);
  EXPECT_FALSE(done.query());
  second.wait(done);
  add(blocks(1), second, data, 10, 1);
  EXPECT_EQ(values(data, second), std::vector<int>{15});
  EXPECT_TRUE(done.query());
  EXPECT_NE(first.native(), second.native());
}

TEST_F(StreamCuda, EventsMeasureTime) {
  const Stream stream(Device::cuda(0));
  const Kernel slow = Kernel::compile(kSource, "wait_then_write", stream);
  const Tensor data = Tensor::zeros({1}, DType::i32, stream);
  const Event start(Device::cuda(0), true), end(Device::cuda(0), true);
  start.record(stream);
  slow({}, stream, data, std::int64_t(10'000'000), 1);
  end.record(stream);
  end.synchronize();
  // 10 million cycles at 0.5 to 3 GHz.
  EXPECT_GT(end.microseconds_since(start), 3000);
  EXPECT_LT(end.microseconds_since(start), 100000);
}

TEST_F(StreamCuda, HostFunctionsAreRefused) {
  EXPECT_THROW(Stream(Device::cuda(0)).run([] {}), Unsupported);
}

TEST_F(StreamCuda, AGraphReplaysAndIsUpdatedInPlace) {
  const Stream stream(Device::cuda(0));
  const Kernel add = Kernel::compile(kSource, "add", stream);
  const Tensor data = Tensor::zeros({1000}, DType::i32, stream);
  const auto adding = [&](int value) {
    return [&, value] { add(blocks(1000), stream, data, value, 1000); };
  };
  Graph graph = Graph::capture(stream, adding(3));
  EXPECT_EQ(graph.node_count(), 1);
  EXPECT_EQ(values(data, stream)[999], 0) << "captured work ran during the capture";
  graph.replay(stream);
  graph.replay(stream);
  EXPECT_EQ(values(data, stream), std::vector<int>(1000, 6));
  EXPECT_TRUE(graph.update(stream, adding(10)));
  graph.replay(stream);
  EXPECT_EQ(values(data, stream), std::vector<int>(1000, 16));
  EXPECT_FALSE(graph.update(stream, [&] {
    adding(100)();
    adding(1000)();
  }));
  graph.replay(stream);
  EXPECT_EQ(values(data, stream), std::vector<int>(1000, 1116));
}

TEST_F(StreamCuda, CopiesAndFillsAreCaptured) {
  const Stream stream(Device::cuda(0));
  const Tensor source = Tensor::zeros({8, 8}, DType::i32, stream);
  const Tensor target = Tensor::zeros({8, 8}, DType::i32, stream);
  copy(target, source.transpose(0, 1), stream);  // loads the kernel
  const Graph graph = Graph::capture(stream, [&] {
    fill_bytes(source.data(), source.device(), 1, source.bytes(), stream);
    copy(target, source.transpose(0, 1), stream);
  });
  EXPECT_EQ(graph.node_count(), 2);
  graph.replay(stream);
  EXPECT_EQ(values(target, stream), std::vector<int>(64, 0x01010101));
}

TEST_F(StreamCuda, ForksRejoinInsideACapture) {
  const Stream stream(Device::cuda(0)), side(Device::cuda(0));
  const Kernel add = Kernel::compile(kSource, "add", stream);
  const Tensor a = Tensor::zeros({1}, DType::i32, stream),
               b = Tensor::zeros({1}, DType::i32, stream);
  stream.synchronize();
  const Event fork(Device::cuda(0)), join(Device::cuda(0));
  const Graph graph = Graph::capture(stream, [&] {
    fork.record(stream);
    side.wait(fork);
    add(blocks(1), side, a, 1, 1);
    add(blocks(1), stream, b, 2, 1);
    join.record(side);
    stream.wait(join);
  });
  EXPECT_EQ(graph.node_count(), 2);
  graph.replay(stream);
  EXPECT_EQ(values(a, stream)[0] + values(b, stream)[0], 3);
}

TEST_F(StreamCuda, RefusesWhatACaptureCannotHold) {
  const Stream stream(Device::cuda(0));
  const Tensor data = Tensor::zeros({4}, DType::i32, stream);
  int host[4];
  const auto refused = [&](const char* word, const std::function<void()>& work) {
    try {
      Graph::capture(stream, work);
      ADD_FAILURE() << word << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
    EXPECT_FALSE(stream.capturing());
    EXPECT_NO_THROW(stream.synchronize()) << "the failed capture did not end";
  };
  refused("allocation of 16 bytes", [&] { Tensor::empty({4}, DType::i32, stream); });
  refused("synchronize", [&] { stream.synchronize(); });
  refused("to_host", [&] { data.to_host(host, stream); });
  refused("only_in_capture", [&] {
    Kernel::compile("__global__ void only_in_capture() {}", "only_in_capture", stream);
  });
}

TEST_F(StreamCuda, AUsersExceptionEndsTheCapture) {
  const Stream stream(Device::cuda(0));
  const Kernel add = Kernel::compile(kSource, "add", stream);
  const Tensor data = Tensor::zeros({1}, DType::i32, stream);
  EXPECT_THROW(Graph::capture(stream,
                              [&] {
                                add(blocks(1), stream, data, 1, 1);
                                throw std::runtime_error("user");
                              }),
               std::runtime_error);
  add(blocks(1), stream, data, 2, 1);
  EXPECT_EQ(values(data, stream), std::vector<int>{2});
}

TEST_F(StreamCuda, MemoryFreedDuringACaptureIsFreedAfterIt) {
  const Stream stream(Device::cuda(0));
  const std::size_t before = pool_statistics(Device::cuda(0)).in_use;
  Tensor data = Tensor::zeros({1000}, DType::i32, stream);
  const Tensor kept = Tensor::zeros({1000}, DType::i32, stream);
  Graph::capture(stream, [&] {
    fill_bytes(kept.data(), kept.device(), 0, kept.bytes(), stream);
    data = Tensor();
  });
  EXPECT_EQ(pool_statistics(Device::cuda(0)).in_use, before + kept.bytes());
}

}  // namespace
}  // namespace tilewright
