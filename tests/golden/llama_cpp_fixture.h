// SPDX-License-Identifier: Apache-2.0
// What tools/compare_llama_cpp.py recorded: teacher forcing over fixed token sequences.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

constexpr int kTop = 5;

struct LlamaCppPosition {
  std::array<std::int32_t, kTop> ids;  // largest logit of `exact` first
  std::array<float, kTop> exact;       // logits of llama.cpp on the weights expanded to float32
  std::array<float, kTop> as_shipped;  // on the quantised file: 8-bit activations
  std::int32_t as_shipped_argmax;
};

struct LlamaCppPrompt {
  std::string name, text;
  std::vector<std::int32_t> tokens;
  std::size_t prompt_tokens;   // of `tokens`, what `text` became; llama.cpp wrote the rest
  std::size_t first_position;  // of `tokens`, that positions[0] belongs to
  std::vector<LlamaCppPosition> positions;
};

struct LlamaCppFixture {
  std::int64_t vocab;
  double shipped_agrees, shipped_rms;  // as_shipped against exact, over all positions
  std::vector<LlamaCppPrompt> prompts;
};

LlamaCppFixture read_llama_cpp_fixture(const std::string& path);

}  // namespace tilewright
