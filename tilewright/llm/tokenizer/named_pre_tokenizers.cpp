// SPDX-License-Identifier: Apache-2.0
// The pre-tokenisers that GGUF files name, and those that tokenizer.json spells out.
#include <algorithm>
#include <array>

#include "tilewright/base/error.h"
#include "tilewright/llm/tokenizer/pre_tokenizer_names.h"

namespace tilewright {
namespace {

using Kind = PreTokenStep::Kind;

constexpr const char* kLlama3 =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr const char* kQwen2 =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

PreTokenStep regex(const char* pattern) {
  PreTokenStep step;
  step.pattern = pattern;
  return step;
}

PreTokenStep digits() {
  PreTokenStep step;
  step.kind = Kind::kDigits;
  return step;
}

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<PreTokenStep> named_pre_tokenizer(std::string_view name) {
  if (one_of(name, {"gpt-2", "gpt2", "phi-2"})) return {regex(kGpt2Pattern)};
  if (one_of(name, {"smollm", "starcoder", "refact", "command-r"})) {
    return {digits(), regex(kGpt2Pattern)};
  }
  if (one_of(name, {"llama-bpe", "llama3", "llama-v3"})) return {regex(kLlama3)};
  if (one_of(name, {"qwen2", "deepseek-r1-qwen"})) return {regex(kQwen2)};
  if (name == "default") {
    return {regex("[\\p{P}\\$\\+<=>\\^~\\|]+"), regex(kGpt2Pattern), regex("\\p{N}+"),
            regex("[0-9][0-9][0-9]")};
  }
  TW_FAIL(Unsupported, "pre-tokeniser '", name,
          "' is not supported; supported are gpt-2, smollm, llama-bpe, qwen2, default and their "
          "aliases");
}

}  // namespace tilewright
