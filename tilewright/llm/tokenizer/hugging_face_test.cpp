// SPDX-License-Identifier: Apache-2.0
// Ids equal to those of Hugging Face's tokenizers on the hard strings of the fixture.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tilewright/base/files.h"
#include "tilewright/llm/formats/gguf.h"
#include "tilewright/llm/tokenizer/fixtures_internal.h"
#include "tilewright/llm/tokenizer/normalize.h"
#include "tilewright/llm/tokenizer/tokenizer.h"
#include "tilewright/llm/tokenizer/tokenizer_spec.h"
#include "tilewright/llm/tokenizer/utf8.h"

namespace tilewright {
namespace {

using Ids = std::vector<std::int32_t>;
using TokenizerPtr = std::shared_ptr<const Tokenizer>;

const std::vector<std::string>& strings() {
  static const auto kStrings = fixtures::read_strings();
  return kStrings;
}

TokenizerPtr small(const std::string& name) {
  return std::make_shared<const Tokenizer>(
      parse_tokenizer_json(fixtures::read_gzip(name + ".tokenizer.json"), "", name));
}

// SmolLM2's, from the committed copy of its vocabulary.
TokenizerPtr smollm2_from_copy() {
  const auto json = nlohmann::json::parse(fixtures::read_gzip("smollm2.vocab.json"));
  TokenizerSpec spec;
  spec.location = "smollm2.vocab.json";
  spec.tokens = json["tokens"].get<std::vector<std::string>>();
  spec.pre_tokenizer = named_pre_tokenizer("smollm");
  for (const std::string merge : json["merges"]) {
    const std::size_t space = merge.find(' ');
    spec.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  const auto types = json["types"].get<std::vector<int>>();
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == 3) spec.added.push_back({std::int32_t(i), spec.tokens[i], true});
  }
  return std::make_shared<const Tokenizer>(std::move(spec));
}

// The real file when it is on this machine.
std::filesystem::path smollm2_file() {
  if (const char* path = std::getenv("TW_SMOLLM2")) return path;
  const auto folder = cache_dir() / "models" / "smollm2-135m-instruct";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".gguf") return entry.path();
  }
  return {};
}

void expect_same_ids(const Tokenizer& tokenizer, const std::string& name) {
  const std::vector<Ids> expected = fixtures::read_ids(name);
  ASSERT_GE(strings().size(), 2000U);
  ASSERT_GT(expected.size(), strings().size());
  for (std::size_t i = 0; i < strings().size(); ++i) {
    EXPECT_EQ(tokenizer.encode(strings()[i]), expected[i])
        << name << ", string " << i << ": " << ::testing::PrintToString(strings()[i]);
  }
  std::size_t at = strings().size();
  for (const std::string& text : strings()) {
    if (text.find("<|") == std::string::npos) continue;
    ASSERT_LT(at, expected.size());
    EXPECT_EQ(tokenizer.encode(text, {.parse_special = false}), expected[at++])
        << name << ", plain: " << ::testing::PrintToString(text);
  }
  EXPECT_EQ(at, expected.size());
}

// Streaming gives what decode() gives, and each part is whole UTF-8.
void expect_stream(const TokenizerPtr& tokenizer, const std::string& text) {
  const Ids ids = tokenizer->encode(text);
  StreamDecoder stream(tokenizer, false);
  std::string joined;
  for (const std::int32_t id : ids) {
    const std::string part = stream.push(id);
    EXPECT_EQ(find_invalid_utf8(part), std::string::npos);
    joined += part;
  }
  joined += stream.flush();
  EXPECT_EQ(joined, tokenizer->decode(ids)) << ::testing::PrintToString(text);
}

TEST(HuggingFace, SmolLM2) { expect_same_ids(*smollm2_from_copy(), "smollm2"); }
TEST(HuggingFace, Gpt2Rules) { expect_same_ids(*small("gpt2"), "gpt2"); }
TEST(HuggingFace, Llama3Rules) { expect_same_ids(*small("llama3"), "llama3"); }
TEST(HuggingFace, Qwen2Rules) { expect_same_ids(*small("qwen2"), "qwen2"); }

TEST(HuggingFace, SmolLM2FromItsFile) {
  const auto path = smollm2_file();
  if (path.empty()) GTEST_SKIP() << "tw pull smollm2-135m-instruct, or set TW_SMOLLM2";
  expect_same_ids(Tokenizer(tokenizer_spec(GgufFile(path))), "smollm2");
}

TEST(HuggingFace, DecodeGivesTheTextBack) {
  const TokenizerPtr gpt2 = small("gpt2"), qwen2 = small("qwen2");
  for (const std::string& text : strings()) {
    const std::string repaired = replace_invalid_utf8(text);
    // Tokens that take the white space beside them do not give it back.
    if (text.find("<mask>") == std::string::npos && text.find("[MASK]") == std::string::npos) {
      EXPECT_EQ(gpt2->decode(gpt2->encode(text)), repaired) << ::testing::PrintToString(text);
    }
    if (text.find("tool_call>") == std::string::npos && text.find("<|") == std::string::npos) {
      EXPECT_EQ(qwen2->decode(qwen2->encode(text)), normalize(repaired, Normalization::kNfc))
          << ::testing::PrintToString(text);
    }
  }
}

TEST(HuggingFace, StreamsWholeCharacters) {
  for (const char* name : {"gpt2", "llama3", "qwen2"}) {
    const TokenizerPtr tokenizer = small(name);
    for (const std::string& text : strings()) expect_stream(tokenizer, text);
  }
}

}  // namespace
}  // namespace tilewright
