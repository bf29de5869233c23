// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "tilewright/llm/engine/engine.h"
#include "tilewright/llm/models/synthetic.h"

namespace tilewright {
namespace {

class EngineRealTime : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "cuda:0" && device_count(DeviceKind::kCuda) == 0)
      GTEST_SKIP() << "no GPU here";
  }
};

// What engine.h promises of a step.
TEST_P(EngineRealTime, AStepNeitherAllocatesNorCompiles) {
  for (const bool graph : {true, false}) {
    EngineOptions options;
    options.device = GetParam();
    options.use_graph = graph;
    options.sequences = 2;
    const auto engine = Engine::create(synthetic_model("tiny", DType::bf16), options);
    std::vector<std::int32_t> prompt(20);
    std::iota(prompt.begin(), prompt.end(), 1);
    for (int sequence = 0; sequence < 2; ++sequence) {
      engine->prefill(sequence, prompt);
      engine->fetch();
    }
    const RealTimeScope scope;
    for (int i = 0; i < 5; ++i) {
      EXPECT_NO_THROW(engine->step()) << (graph ? "graph" : "eager");
      EXPECT_NO_THROW(engine->fetch());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, EngineRealTime, testing::Values("cpu", "cuda:0"),
                         [](const auto& device) {
                           return std::string(device.param) == "cpu" ? "cpu" : "cuda";
                         });

}  // namespace
}  // namespace tilewright
