// SPDX-License-Identifier: Apache-2.0
// What the comparison with Hugging Face does not say: errors, options, limits.
#include "tilewright/llm/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include "tilewright/base/error.h"
#include "tilewright/llm/formats/gguf_writer_internal.h"
#include "tilewright/llm/tokenizer/byte_alphabet.h"
#include "tilewright/llm/tokenizer/regex.h"
#include "tilewright/llm/tokenizer/tokenizer_spec.h"
#include "tilewright/llm/tokenizer/utf8.h"

namespace tilewright {
namespace {

using Ids = std::vector<std::int32_t>;

// The 256 bytes, aa, aaaa, and a control token.
TokenizerSpec bytes_spec() {
  TokenizerSpec spec;
  spec.location = "test";
  for (int byte = 0; byte < 256; ++byte) {
    spec.tokens.push_back(to_byte_alphabet(std::string(1, char(byte))));
  }
  spec.tokens.insert(spec.tokens.end(), {"aa", "aaaa", "<|end|>"});
  spec.merges = {{"a", "a"}, {"aa", "aa"}};
  spec.added = {{258, "<|end|>", true}};
  spec.pre_tokenizer = named_pre_tokenizer("gpt-2");
  spec.eos = 258;
  return spec;
}

TEST(Tokenizer, MergesAndSpecialTokens) {
  const Tokenizer tokenizer(bytes_spec());
  EXPECT_EQ(tokenizer.encode("aaaaaaa"), (Ids{257, 256, 'a'}));
  EXPECT_EQ(tokenizer.encode("a<|end|>"), (Ids{'a', 258}));
  EXPECT_EQ(tokenizer.encode("<|", {.parse_special = false}), (Ids{'<', '|'}));
  EXPECT_EQ(tokenizer.encode("<|end|>", {.parse_special = false}).size(), 7U);
  EXPECT_EQ(tokenizer.decode(Ids{'a', 258, 'b'}), "a<|end|>b");
  EXPECT_EQ(tokenizer.decode(Ids{'a', 258, 'b'}, true), "ab");
  EXPECT_EQ(tokenizer.end_tokens(), (Ids{258}));
  EXPECT_EQ(tokenizer.eos_text(), "<|end|>");
  EXPECT_EQ(tokenizer.bos_text(), "");
  EXPECT_EQ(tokenizer.find("aa"), 256);
  EXPECT_THROW(tokenizer.piece(259), InvalidArgument);
  EXPECT_THROW(tokenizer.decode(Ids{-1}), InvalidArgument);
}

TEST(Tokenizer, InvalidUtf8) {
  const Tokenizer tokenizer(bytes_spec());
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("a\xff\xe2\x82z")), "a\uFFFD\uFFFDz");
  try {
    tokenizer.encode("ab\xff", {.reject_invalid_utf8 = true});
    ADD_FAILURE();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "text: invalid UTF-8 at byte 2; give the text as UTF-8");
  }
}

TEST(Tokenizer, ReplacesMaximalSubparts) {
  // Python: bytes.decode("utf-8", "replace"), number of U+FFFD.
  const std::pair<const char*, int> cases[] = {
      {"\xf0\x9f\x98", 1}, {"\xc0\xaf", 2},         {"\xed\xa0\x80", 3}, {"\xf4\x90\x80\x80", 4},
      {"\xe2\x28", 1},     {"\xf8\x88\x80\x80", 4}, {"\xe0\x9f", 2},     {"\xf1\x80\x80", 1}};
  for (const auto& [bytes, count] : cases) {
    std::string repaired = replace_invalid_utf8(bytes);
    std::size_t found = 0;
    for (std::size_t at = 0; (at = repaired.find("\uFFFD", at)) != std::string::npos; at += 3)
      ++found;
    EXPECT_EQ(found, std::size_t(count)) << ::testing::PrintToString(std::string(bytes));
  }
}

TEST(Tokenizer, StreamHoldsBackHalfACharacter) {
  const auto tokenizer = std::make_shared<const Tokenizer>(bytes_spec());
  StreamDecoder stream(tokenizer);
  EXPECT_EQ(stream.push(0xF0), "");
  EXPECT_EQ(stream.push(0x9F), "");
  EXPECT_EQ(stream.push(0x98), "");
  EXPECT_EQ(stream.push(0x80), "\U0001F600");
  EXPECT_EQ(stream.push(0xE2), "");
  EXPECT_EQ(stream.push('x'), "\uFFFDx");
  EXPECT_EQ(stream.push(0xC3), "");
  EXPECT_EQ(stream.push(258), "");
  EXPECT_EQ(stream.flush(), "\uFFFD");
  EXPECT_EQ(stream.flush(), "");
}

// A word of a million letters takes well under a second; quadratic merging would take hours.
TEST(Tokenizer, LongWords) {
  const Tokenizer tokenizer(bytes_spec());
  EXPECT_EQ(tokenizer.encode(std::string(1 << 20, 'a')).size(), std::size_t{1} << 18);
  EXPECT_EQ(tokenizer.encode(std::string(1 << 20, ' ')).size(), std::size_t{1} << 20);
}

TEST(Tokenizer, PartsMustFitTogether) {
  TokenizerSpec merge = bytes_spec();
  merge.merges.push_back({"aa", "b"});
  EXPECT_THROW(Tokenizer{merge}, FormatError);
  TokenizerSpec eos = bytes_spec();
  eos.eos = 9999;
  EXPECT_THROW(Tokenizer{eos}, FormatError);
  TokenizerSpec added = bytes_spec();
  added.added.push_back({1 << 30, "x", true});
  EXPECT_THROW(Tokenizer{added}, FormatError);
  TokenizerSpec prefix = bytes_spec();
  prefix.prefix = {-1};
  EXPECT_THROW(Tokenizer{prefix}, FormatError);
  EXPECT_THROW(named_pre_tokenizer("bloom"), Unsupported);
}

TEST(Tokenizer, RunawayPatternsEnd) {
  const Regex regex("(a+)+[bc]", "test");
  const auto run = [&] { regex.for_each(std::string(200, 'a'), [](std::size_t, std::size_t) {}); };
  EXPECT_THROW(run(), Unsupported);
  EXPECT_THROW(Regex("(", "test"), FormatError);
  EXPECT_THROW(Regex("\\h", "test"), Unsupported);
  EXPECT_THROW(Regex("[a-z&&[^b]]", "test"), Unsupported);
}

template <class Kind>
void expect_json_error(const std::string& model, const std::string& rest, const std::string& part) {
  const std::string json = "{\"model\":" + model + rest + "}";
  try {
    Tokenizer tokenizer(parse_tokenizer_json(json, "", "tokenizer.json"));
    ADD_FAILURE() << json;
  } catch (const Kind& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(TokenizerJson, NamesWhatIsNotSupported) {
  const std::string model = R"({"type":"BPE","vocab":{"a":0},"merges":[]})";
  const std::string level = R"(,"pre_tokenizer":{"type":"ByteLevel"})";
  expect_json_error<Unsupported>(R"({"type":"Unigram"})", level, "model type Unigram");
  expect_json_error<Unsupported>(R"({"vocab":{},"merges":[],"byte_fallback":true})", level,
                                 "byte_fallback");
  expect_json_error<Unsupported>(model, "", "without pre_tokenizer");
  expect_json_error<Unsupported>(model, R"(,"pre_tokenizer":{"type":"Metaspace"})",
                                 "pre_tokenizer Metaspace");
  expect_json_error<Unsupported>(model, R"(,"pre_tokenizer":{"type":"Digits"})",
                                 "without ByteLevel");
  expect_json_error<Unsupported>(model, level + R"(,"normalizer":{"type":"Lowercase"})",
                                 "normalizer Lowercase");
  expect_json_error<Unsupported>(model, level + R"(,"decoder":{"type":"WordPiece"})",
                                 "decoder WordPiece");
  expect_json_error<Unsupported>(model, level + R"(,"post_processor":{"type":"BertProcessing"})",
                                 "post_processor BertProcessing");
}

TEST(TokenizerJson, NamesWhatIsWrong) {
  const std::string level = R"(,"pre_tokenizer":{"type":"ByteLevel"})";
  expect_json_error<FormatError>("", "", "not valid JSON");
  expect_json_error<FormatError>("{}", level, "vocab is missing");
  expect_json_error<FormatError>(R"({"vocab":{"a":-1},"merges":[]})", level, "id -1");
  expect_json_error<FormatError>(R"({"vocab":{"a":99999999},"merges":[]})", level, "out of range");
  expect_json_error<FormatError>(R"({"vocab":{"a":0,"b":0},"merges":[]})", level, "same id");
  expect_json_error<FormatError>(R"({"vocab":{"a":0},"merges":["a"]})", level, "no pair");
  expect_json_error<FormatError>(R"({"vocab":{"a":0},"merges":["a b"]})", level,
                                 "not in the vocabulary");
  expect_json_error<FormatError>(R"({"vocab":{"a":0},"merges":[],"unk_token":"u"})", level, "'u'");
}

TEST(TokenizerJson, ReadsItsConfig) {
  const std::string json = R"({"model":{"vocab":{"a":0,"b":1,"<s>":2,"</s>":3},"merges":[]},
      "pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},
      "added_tokens":[{"id":2,"content":"<s>","special":true}]})";
  const Tokenizer tokenizer(parse_tokenizer_json(
      json,
      R"({"bos_token":"<s>","eos_token":{"content":"</s>"},"add_bos_token":true,
          "added_tokens_decoder":{"9":{"content":"<new>","special":true}}})",
      "tokenizer.json"));
  EXPECT_EQ(tokenizer.encode("ab<new>"), (Ids{2, 0, 1, 9}));
  EXPECT_EQ(tokenizer.encode("ab", {.add_special = false}), (Ids{0, 1}));
  EXPECT_EQ(tokenizer.bos(), 2);
  EXPECT_EQ(tokenizer.eos(), 3);
  EXPECT_EQ(tokenizer.vocab_size(), 10);
  EXPECT_EQ(tokenizer.piece(7), "");
}

TEST(TokenizerGguf, ReadsItsKeys) {
  fixtures::GgufWriter writer;
  writer.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "llama-bpe");
  writer.texts("tokenizer.ggml.tokens", {"a", "b", "ab", "<|eot_id|>", "user"});
  writer.texts("tokenizer.ggml.merges", {"a b"})
      .integers("tokenizer.ggml.token_type", {1, 1, 1, 3, 4});
  writer.integer("tokenizer.ggml.bos_token_id", 3).integer("tokenizer.ggml.eos_token_id", 3);
  const auto parse = [](const fixtures::GgufWriter& file) {
    const std::string bytes = file.bytes();
    return tokenizer_spec(GgufFile(std::as_bytes(std::span(bytes)), nullptr, "test"));
  };
  const Tokenizer tokenizer(parse(writer));
  EXPECT_EQ(tokenizer.encode("ab<|eot_id|>user"), (Ids{3, 2, 3, 4}));  // llama-bpe puts BOS first
  EXPECT_TRUE(tokenizer.is_special(3));
  EXPECT_FALSE(tokenizer.is_special(4));
  EXPECT_THROW(parse(fixtures::GgufWriter()), NotFound);
  EXPECT_THROW(parse(fixtures::GgufWriter().text("tokenizer.ggml.model", "llama")), Unsupported);
  EXPECT_THROW(parse(fixtures::GgufWriter()
                         .text("tokenizer.ggml.model", "gpt2")
                         .text("tokenizer.ggml.pre", "viking")),
               Unsupported);
  writer.integer("tokenizer.ggml.padding_token_id", 99);
  EXPECT_NO_THROW(parse(writer));
}

}  // namespace
}  // namespace tilewright
