// SPDX-License-Identifier: Apache-2.0
// Byte-level BPE. Token ids equal those of Hugging Face's `tokenizers` for the same files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct EncodeOptions {
  bool add_special = true;    // the tokens that the tokenizer puts before and after a text (BOS)
  bool parse_special = true;  // text such as <|im_end|> becomes that token; off for user input
  // Bytes that are no UTF-8 become U+FFFD, one per maximal ill-formed run, as Python's
  // bytes.decode("utf-8", "replace") does. With this option they throw InvalidArgument.
  bool reject_invalid_utf8 = false;
};

struct TokenizerSpec;  // tokenizer_spec.h: what the readers of the file formats fill

// Immutable after construction but for an internal cache; safe to share between threads.
class Tokenizer {
 public:
  // Throws FormatError when the parts do not fit together, Unsupported naming a component.
  explicit Tokenizer(TokenizerSpec spec);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // Always valid UTF-8: bytes that are not become U+FFFD. Throws InvalidArgument for an id
  // outside the vocabulary.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = false) const;

  std::int64_t vocab_size() const;  // one past the largest id
  // The raw bytes a token stands for, empty for an id that is a hole in the vocabulary.
  std::string_view piece(std::int32_t id) const;
  bool is_special(std::int32_t id) const;
  // The id of a token given as its text; empty when there is none.
  std::optional<std::int32_t> find(std::string_view piece) const;
  std::optional<std::int32_t> bos() const;
  std::optional<std::int32_t> eos() const;
  // Text of a token, empty when there is none: for chat templates.
  std::string bos_text() const;
  std::string eos_text() const;
  // Ids of end-of-turn and end-of-text tokens by their usual names, and eos().
  std::vector<std::int32_t> end_tokens() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Turns ids into text one at a time and never splits a character: what a push returns is whole
// UTF-8. The results joined, flush() last, are decode() of all the ids.
class StreamDecoder {
 public:
  explicit StreamDecoder(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special = true)
      : tokenizer_(std::move(tokenizer)), skip_special_(skip_special) {}
  std::string push(std::int32_t id);
  std::string flush();

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  bool skip_special_;
  std::string pending_;
};

}  // namespace tilewright
