// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/engine/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/llm/models/synthetic.h"

namespace tilewright {
namespace {

std::vector<std::int32_t> some_tokens(std::int64_t count, std::int32_t salt = 1) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = std::int32_t((i * 37 + std::size_t(salt) * 101) % 512);
  return tokens;
}

// Every device of this machine; the weights are float32 on cpu and bfloat16 on a GPU.
class EngineTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "cuda:0" && device_count(DeviceKind::kCuda) == 0)
      GTEST_SKIP() << "no GPU here";
  }
  static std::shared_ptr<const ModelFiles> tiny() {
    static const std::shared_ptr<const ModelFiles> f32 = synthetic_model("tiny", DType::f32);
    static const std::shared_ptr<const ModelFiles> bf16 = synthetic_model("tiny", DType::bf16);
    return std::string(GetParam()) == "cpu" ? f32 : bf16;
  }
  static EngineOptions options() {
    EngineOptions result;
    result.device = GetParam();
    result.capacity = 64;
    return result;
  }
  // The tokens that follow a prompt, greedily.
  static std::vector<std::int32_t> continuation(Engine& engine,
                                                std::span<const std::int32_t> prompt, int count) {
    engine.truncate(0, 0);
    engine.prefill(0, prompt);
    std::vector<std::int32_t> tokens{engine.fetch()[0]};
    for (int i = 1; i < count; ++i) {
      engine.step();
      tokens.push_back(engine.fetch()[0]);
    }
    return tokens;
  }
  static double relative_error(const std::vector<float>& got, const std::vector<float>& want) {
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      difference += std::pow(double(got[i]) - double(want[i]), 2);
      norm += std::pow(double(want[i]), 2);
    }
    return std::sqrt(difference / norm);
  }
};

TEST_P(EngineTest, GraphEqualsEager) {
  EngineOptions eager = options();
  eager.use_graph = false;
  const auto replayed = Engine::create(tiny(), options());
  const auto direct = Engine::create(tiny(), eager);
  const auto prompt = some_tokens(9);
  EXPECT_EQ(continuation(*replayed, prompt, 20), continuation(*direct, prompt, 20));
}

TEST_P(EngineTest, ChunksDoNotChangeThePrefill) {
  const auto whole = Engine::create(tiny(), options());
  const auto prompt = some_tokens(33);
  whole->prefill(0, prompt);
  const std::vector<float> want = whole->logits();
  for (const std::int64_t chunk : {1, 5, 16, 32}) {
    EngineOptions chunked = options();
    chunked.chunk = chunk;
    const auto engine = Engine::create(tiny(), chunked);
    engine->prefill(0, prompt);
    // bf16 activations are rounded after sums of another order: 2^-8 a value.
    EXPECT_LT(relative_error(engine->logits(), want), engine->device().is_cpu() ? 1e-5 : 2e-2)
        << "chunk " << chunk;
  }
}

TEST_P(EngineTest, PrefillAgreesWithDecode) {
  const auto engine = Engine::create(tiny(), options());
  const auto prompt = some_tokens(12);
  const std::vector<float> all = engine->forward_all(prompt);
  const auto vocab = std::size_t(engine->config().vocab);
  engine->truncate(0, 0);
  engine->prefill(0, std::span(prompt).first(11));
  engine->truncate(0, 11);
  engine->prefill(0, std::span(prompt).last(1));
  const std::vector<float> want(all.end() - std::ptrdiff_t(vocab), all.end());
  EXPECT_LT(relative_error(engine->logits(), want), engine->device().is_cpu() ? 1e-5 : 2e-2);
}

TEST_P(EngineTest, AgreesWithTheCpuOnTheSameWeights) {
  for (const DType weights : {DType::bf16, DType::f32, DType::q8_0, DType::q4_1}) {
    const std::shared_ptr<const ModelFiles> files = synthetic_model("tiny", weights);
    EngineOptions cpu = options();
    cpu.device = "cpu";
    const auto tokens = some_tokens(40);
    const std::vector<float> want = Engine::create(files, cpu)->forward_all(tokens);
    const std::vector<float> got = Engine::create(files, options())->forward_all(tokens);
    // bf16 activations and 8-bit ones (block weights on cpu) round to 2^-8 of the largest.
    EXPECT_LT(relative_error(got, want), weights == DType::f32 ? 1e-4 : 2e-2) << weights;
  }
}

TEST_P(EngineTest, SequencesDoNotDisturbOneAnother) {
  EngineOptions batch = options();
  batch.sequences = 3;
  const auto alone = Engine::create(tiny(), options());
  const auto together = Engine::create(tiny(), batch);
  std::vector<std::vector<std::int32_t>> got(3);
  for (int sequence = 0; sequence < 3; ++sequence) {
    together->prefill(sequence, some_tokens(7 + 5 * sequence, sequence));
    got[std::size_t(sequence)].push_back(together->fetch()[std::size_t(sequence)]);
  }
  for (int i = 1; i < 10; ++i) {
    together->step();
    const auto tokens = together->fetch();
    for (std::size_t sequence = 0; sequence < 3; ++sequence)
      got[sequence].push_back(tokens[sequence]);
  }
  if (!alone->device().is_cpu()) return;  // greedy ties may fall either way between kernels
  for (int sequence = 0; sequence < 3; ++sequence) {
    EXPECT_EQ(got[std::size_t(sequence)],
              continuation(*alone, some_tokens(7 + 5 * sequence, sequence), 10));
  }
}

TEST_P(EngineTest, TruncatingGoesBack) {
  const auto engine = Engine::create(tiny(), options());
  const auto prompt = some_tokens(10);
  const auto first = continuation(*engine, prompt, 8);
  continuation(*engine, some_tokens(15, 9), 8);
  EXPECT_EQ(continuation(*engine, prompt, 8), first);
  EXPECT_EQ(engine->length(), 10 + 7);
}

TEST_P(EngineTest, RefusesWhatDoesNotFit) {
  const auto engine = Engine::create(tiny(), options());
  EXPECT_THROW(engine->prefill(0, some_tokens(65)), InvalidArgument);
  EXPECT_THROW(engine->prefill(0, {}), InvalidArgument);
  EXPECT_THROW(engine->prefill(1, some_tokens(3)), InvalidArgument);
  const std::vector<std::int32_t> outside{512};
  EXPECT_THROW(engine->prefill(0, outside), InvalidArgument);
  engine->prefill(0, some_tokens(64));
  engine->fetch();
  EXPECT_THROW(engine->step(), InvalidArgument);
  EXPECT_THROW(engine->fetch(), InvalidArgument);
  EngineOptions too_long = options();
  too_long.capacity = 1 << 20;
  EXPECT_THROW(Engine::create(tiny(), too_long), InvalidArgument);
}

TEST_P(EngineTest, ResultsWaitUntilTheyAreFetched) {
  const auto engine = Engine::create(tiny(), options());
  engine->prefill(0, some_tokens(5));
  engine->step();
  engine->step();
  EXPECT_EQ(engine->unfetched(), 3);
  const std::vector<std::int32_t> late{engine->fetch()[0], engine->fetch()[0], engine->fetch()[0]};
  EXPECT_EQ(late, continuation(*engine, some_tokens(5), 3));
}

INSTANTIATE_TEST_SUITE_P(Devices, EngineTest, testing::Values("cpu", "cuda:0"),
                         [](const auto& device) {
                           return std::string(device.param) == "cpu" ? "cpu" : "cuda";
                         });

}  // namespace
}  // namespace tilewright
