// SPDX-License-Identifier: Apache-2.0
// Tiny random models of Hugging Face transformers against the logits that it computed for them
// (tools/make_golden_models.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/base/files.h"
#include "tilewright/llm/engine/engine.h"

namespace tilewright {
namespace {

constexpr double kFloat32 = 1e-4;  // relative, of the whole matrix of logits

struct Golden {
  std::filesystem::path folder;
  std::vector<std::int32_t> ids;
  std::vector<float> logits;  // [ids, vocab]
};

Golden read_golden(const std::string& name, std::size_t vocab) {
  Golden golden{std::filesystem::path(TW_SOURCE_DIR "/tests/fixtures/golden") / name, {}, {}};
  const std::string bytes = read_text_file(golden.folder / "expected.bin");
  const std::size_t count = bytes.size() / (sizeof(std::int32_t) + vocab * sizeof(float));
  golden.ids.resize(count);
  golden.logits.resize(count * vocab);
  std::memcpy(golden.ids.data(), bytes.data(), count * sizeof(std::int32_t));
  std::memcpy(golden.logits.data(), bytes.data() + count * sizeof(std::int32_t),
              golden.logits.size() * sizeof(float));
  return golden;
}

double relative_error(std::span<const float> got, std::span<const float> wanted) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    difference += std::pow(double(got[i]) - wanted[i], 2);
    norm += std::pow(double(wanted[i]), 2);
  }
  return std::sqrt(difference / norm);
}

// The argmax of each row agrees unless the wanted logits of the two differ by less than `tie`.
void expect_same_argmax(std::span<const float> got, std::span<const float> wanted,
                        std::size_t vocab, float tie) {
  for (std::size_t row = 0; row * vocab < wanted.size(); ++row) {
    const auto ours = got.subspan(row * vocab, vocab), theirs = wanted.subspan(row * vocab, vocab);
    const auto index = std::max_element(ours.begin(), ours.end()) - ours.begin();
    const float best = *std::max_element(theirs.begin(), theirs.end());
    EXPECT_LE(best - theirs[std::size_t(index)], tie) << "row " << row;
  }
}

std::unique_ptr<Engine> load(const Golden& golden, const std::string& device, DType dtype) {
  EngineOptions options;
  options.device = device;
  options.weights = options.cache = dtype;
  return Engine::load(golden.folder.string(), options);
}

// As decoding does it: one token a time, from the cache of those before it.
std::vector<float> one_by_one(Engine& engine, std::span<const std::int32_t> ids) {
  std::vector<float> all;
  engine.truncate(0, 0);
  for (const std::int32_t& id : ids) {
    engine.prefill(0, std::span(&id, 1));
    const std::vector<float> row = engine.logits();
    all.insert(all.end(), row.begin(), row.end());
    engine.fetch();
  }
  return all;
}

class GoldenModel : public testing::TestWithParam<const char*> {
 protected:
  std::size_t vocab() const {
    return std::size_t(
        open_model(std::filesystem::path(TW_SOURCE_DIR "/tests/fixtures/golden") / GetParam())
            ->config()
            .vocab);
  }
};

TEST_P(GoldenModel, Float32OnCpu) {
  const std::size_t columns = vocab();
  const Golden golden = read_golden(GetParam(), columns);
  ASSERT_GT(golden.ids.size(), 64U);  // more than one block of any kernel
  const auto engine = load(golden, "cpu", DType::f32);
  const std::vector<float> whole = engine->forward_all(golden.ids);
  ASSERT_EQ(whole.size(), golden.logits.size());
  EXPECT_LT(relative_error(whole, golden.logits), kFloat32);
  expect_same_argmax(whole, golden.logits, columns, 0.0F);
  EXPECT_LT(relative_error(one_by_one(*engine, golden.ids), golden.logits), kFloat32);
}

// At worst a product rounds its weights, its input and its result to bfloat16, and the residual
// stream is rounded after it: four independent errors of relative size 2^-9 at most each. Four
// products a layer follow each other, between the embedding and the output; the errors add in
// quadrature. Softmax and norms may double what passes through them. (PyTorch's bfloat16, which
// rounds in all four places, is within this.)
double bf16_tolerance(std::int64_t layers) {
  return 2 * std::ldexp(1.0, -9) * std::sqrt(4.0 * double(4 * layers + 2));
}

TEST_P(GoldenModel, Bfloat16OnCuda) {
  try {
    Device::parse("cuda");
  } catch (const Error&) {
    GTEST_SKIP() << "no GPU";
  }
  const std::size_t columns = vocab();
  const Golden golden = read_golden(GetParam(), columns);
  const auto engine = load(golden, "cuda", DType::bf16);
  const double tolerance = bf16_tolerance(engine->config().layers);
  const double scale = std::sqrt(
      std::inner_product(golden.logits.begin(), golden.logits.end(), golden.logits.begin(), 0.0) /
      double(golden.logits.size()));
  const std::vector<float> whole = engine->forward_all(golden.ids);
  EXPECT_LT(relative_error(whole, golden.logits), tolerance);
  expect_same_argmax(whole, golden.logits, columns, float(6 * tolerance * scale));
  EXPECT_LT(relative_error(one_by_one(*engine, golden.ids), golden.logits), tolerance);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenModel,
                         testing::Values("llama_tied", "llama_untied_llama3", "llama_bias", "gpt2"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace tilewright
