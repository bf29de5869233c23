// SPDX-License-Identifier: Apache-2.0
// Whole vocabularies, where the blocks of a cluster share a row: the same tokens as on the cpu, to
// the last one, for every combination of filters.
#include <gtest/gtest.h>

#include <limits>

#include "tilewright/harness/samples.h"
#include "tilewright/ops/argmax/argmax.h"
#include "tilewright/ops/sampling/sampling.h"
#include "tilewright/runtime/graph.h"

namespace tilewright {
namespace {

constexpr std::int64_t kRows = 24;

std::vector<SamplingParams> mixed_params() {
  std::vector<SamplingParams> params(kRows);
  for (std::size_t r = 0; r < params.size(); ++r) {
    params[r].seed = 1000 + r;
    params[r].temperature = r % 6 == 0 ? 0.0f : 0.4f + 0.1f * float(r % 11);
    params[r].top_k = r % 2 == 0 ? 0 : std::int32_t(1 + r * 13);
    params[r].top_p = r % 3 == 0 ? 1.0f : 0.05f * float(r % 20);
    params[r].min_p = r % 4 == 3 ? 0.02f : 0.0f;
  }
  return params;
}

struct Draw {
  Tensor logits, params, positions, tokens;
};

Draw draw_of(const std::vector<float>& logits, std::int64_t vocab, const Stream& stream) {
  const auto params = mixed_params();
  Draw draw;
  draw.logits = tensor_of(logits, {kRows, vocab}, DType::f32, stream);
  draw.params = Tensor::from_host(params.data(), {kRows * std::int64_t(sizeof(SamplingParams))},
                                  DType::u8, stream);
  draw.positions = tensor_of(random_integers(kRows, 4, 0, 100000), stream);
  draw.tokens = Tensor::zeros({kRows}, DType::i32, stream);
  return draw;
}

std::vector<double> tokens_of(const Draw& draw, const Stream& stream) {
  sample_into(draw.tokens, draw.logits, draw.params, draw.positions, stream);
  return values_of(draw.tokens, stream);
}

void expect_cpu_tokens(const std::vector<float>& logits, std::int64_t vocab) {
  const Stream stream(Device::cuda()), host(Device::cpu());
  const Draw draw = draw_of(logits, vocab, stream);
  const auto expected = tokens_of(draw_of(logits, vocab, host), host);
  EXPECT_EQ(tokens_of(draw, stream), expected) << vocab;
  const Graph graph = Graph::capture(
      stream, [&] { sample_into(draw.tokens, draw.logits, draw.params, draw.positions, stream); });
  graph.replay(stream);
  graph.replay(stream);
  EXPECT_EQ(values_of(draw.tokens, stream), expected) << vocab << ", replayed";
  const auto largest = values_of(argmax(draw.logits, stream), stream);
  for (std::size_t r = 0; r < kRows; r += 6) EXPECT_EQ(expected[r], largest[r]) << "greedy " << r;
}

TEST(SamplingCuda, WholeVocabularies) {
  if (device_count(DeviceKind::kCuda) == 0) GTEST_SKIP() << "no GPU on this machine";
  for (const std::int64_t vocab : {49152, 128256, 151937}) {
    auto logits = random_floats(kRows * vocab, 9, -12, 3);
    // A few that stand out, as in a model's output.
    for (std::int64_t i = 0; i < kRows * vocab; i += 4999) logits[std::size_t(i)] += 9;
    expect_cpu_tokens(logits, vocab);
  }
}

TEST(SamplingCuda, TiesAndInfinities) {
  if (device_count(DeviceKind::kCuda) == 0) GTEST_SKIP() << "no GPU on this machine";
  constexpr std::int64_t kVocab = 20000;
  auto logits = random_floats(kRows * kVocab, 10, -4, 4);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    logits[i] = float(int(logits[i]));  // nine different values
    if (i % 3 == 0) logits[i] = -std::numeric_limits<float>::infinity();
  }
  expect_cpu_tokens(logits, kVocab);
}

}  // namespace
}  // namespace tilewright
