// SPDX-License-Identifier: Apache-2.0
// What the readers of tokenizer.json and of GGUF fill, and Tokenizer is made from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright {

class GgufFile;

// One step of the pre-tokeniser: each cuts every piece that the steps before it left.
struct PreTokenStep {
  enum class Kind {
    kRegex,        // cut at matches of `pattern`
    kLiteral,      // cut at occurrences of `pattern`
    kDigits,       // cut at numeric characters, one by one
    kDigitRuns,    // cut at runs of numeric characters
    kPrefixSpace,  // put a space before a piece that begins without one
  };
  // What becomes of a match; `kIsolated` makes it a piece of its own.
  enum class Behavior { kIsolated, kRemoved, kMergedWithPrevious, kMergedWithNext, kContiguous };
  Kind kind = Kind::kRegex;
  std::string pattern;
  Behavior behavior = Behavior::kIsolated;
  bool invert = false;  // what lies between matches is the match
};

enum class Normalization { kNfc, kNfd, kNfkc, kNfkd };

struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  bool special = false;      // skipped by decode, matched only when special tokens are parsed
  bool normalized = false;   // looked for after normalisation, not before
  bool lstrip = false;       // takes the white space to its left
  bool rstrip = false;       // and to its right
  bool single_word = false;  // only where no word character touches it
};

struct TokenizerSpec {
  std::string location;             // starts the messages
  std::vector<std::string> tokens;  // by id, in the byte-level alphabet; empty for a hole
  std::vector<std::pair<std::string, std::string>> merges;  // best first
  std::vector<AddedToken> added;
  std::vector<Normalization> normalizers;
  std::vector<PreTokenStep> pre_tokenizer;
  bool ignore_merges = false;           // a piece that is a token needs no merges
  std::optional<std::int32_t> unknown;  // for a byte that has no token; else it is dropped
  bool fuse_unknown = false;
  std::vector<std::int32_t> prefix, suffix;  // put around a text when add_special is on
  std::optional<std::int32_t> bos, eos;
};

// The steps of a named pre-tokeniser of GGUF (gpt-2, llama-bpe, qwen2, smollm, default…).
// Throws Unsupported naming it and the known ones.
std::vector<PreTokenStep> named_pre_tokenizer(std::string_view name);

// From tokenizer.json's text and, when not empty, tokenizer_config.json's.
// Throws FormatError, or Unsupported naming the component.
TokenizerSpec parse_tokenizer_json(std::string_view tokenizer_json, std::string_view config_json,
                                   std::string_view location);

// From tokenizer.ggml.*; throws NotFound when the file has no tokenizer.
TokenizerSpec tokenizer_spec(const GgufFile& file);

}  // namespace tilewright
