// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "tilewright/harness/failure.h"
#include "tilewright/harness/samples.h"
#include "tilewright/ops/_core/schema.h"
#include "tilewright/ops/add/add.h"
#include "tilewright/ops/rms_norm/rms_norm.h"
#include "tilewright/ops/softmax/softmax.h"
#include "tilewright/runtime/graph.h"
#include "tilewright/runtime/jit/manifest.h"

namespace tilewright {
namespace {

TEST(OpTable, HasEveryOpOnceAndRegistersItsKernels) {
  std::set<std::string> names;
  for (const OpInfo& op : op_table()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    EXPECT_GT(std::strlen(op.doc), 8u) << op.name;
  }
  for (const char* op : {"add", "argmax", "attention", "embedding", "gelu", "layer_norm",
                         "rms_norm", "rope", "sampling", "silu_mul", "softmax"}) {
    EXPECT_EQ(names.count(op), 1u) << op;
  }
  std::set<std::string> registered;
  for (const ManifestEntry& entry : manifest_by_op()) registered.insert(entry.op);
  for (const std::string& op : names) EXPECT_EQ(registered.count(op), 1u) << op;
}

// On every device a captured call replays with what its operands then hold.
TEST(Ops, CaptureAndReplay) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const Tensor x = tensor_of({1, 2, 3, 4}, {1, 4}, DType::f32, stream);
    const Tensor one = tensor_of({1, 1, 1, 1}, {4}, DType::f32, stream);
    const Tensor y = Tensor::zeros({1, 4}, DType::f32, stream);
    add_into(x, x, one, stream);  // compiles before the capture
    rms_norm_into(y, x, one, 0, stream);
    const Graph graph = Graph::capture(stream, [&] {
      add_into(x, x, one, stream);
      rms_norm_into(y, x, one, 0, stream);
    });
    graph.replay(stream);
    graph.replay(stream);
    EXPECT_EQ(values_of(x, stream), (std::vector<double>{4, 5, 6, 7})) << device;
    const double root = std::sqrt((16 + 25 + 36 + 49) / 4.0);
    EXPECT_NEAR(values_of(y, stream)[3], 7 / root, 1e-6) << device;
  }
}

TEST(Ops, WrongDeviceIsNamed) {
  const Stream stream(Device::cpu());
  float memory[4] = {};
  const Tensor here = Tensor::zeros({1, 4}, DType::f32, stream);
  const Tensor there = Tensor::wrap(memory, Shape{1, 4}, DType::f32, Device::cuda(0));
  const Tensor weight = Tensor::wrap(memory, Shape{4}, DType::f32, Device::cuda(0));
  const std::string message = failure_of([&] { add_into(here, here, there, stream); });
  EXPECT_NE(message.find("add: b: got f32 [1, 4] on cuda:0; takes a tensor on the stream's "
                         "device, cpu"),
            std::string::npos)
      << message;
  EXPECT_NE(failure_of([&] {
              rms_norm_into(here, here, weight, 0, stream);
            }).find("rms_norm: weight: got f32 [4] on cuda:0"),
            std::string::npos);
  EXPECT_NE(failure_of([&] { softmax_into(there, here, stream); }).find("softmax: y: got"),
            std::string::npos);
}

// The recording keeps the memory of its operands.
TEST(Ops, ReplayAfterTheTensorsAreGone) {
  const Stream stream(Device::cpu());
  const Tensor y = Tensor::zeros({1000}, DType::f32, stream);
  Graph graph;
  {
    const Tensor a = tensor_of(std::vector<float>(1000, 2), {1000}, DType::f32, stream);
    graph = Graph::capture(stream, [&] { add_into(y, y, a, stream); });
  }
  for (int i = 0; i < 3; ++i) graph.replay(stream);
  EXPECT_EQ(values_of(y, stream), std::vector<double>(1000, 6));
}

}  // namespace
}  // namespace tilewright
