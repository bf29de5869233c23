// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/llm/tokenizer/utf8.h"

namespace tilewright {
namespace {

// Letters and numbers that Unicode 15 and 16 added: PCRE2 may be older than the tables that
// Hugging Face's tokenizers has. Ranges that it knows already do no harm.
constexpr std::string_view kNewLetters =
    "\\x{1c89}-\\x{1c8a}\\x{a7cb}-\\x{a7cd}\\x{a7da}-\\x{a7dc}\\x{105c0}-\\x{105f3}\\x{10d4a}-"
    "\\x{10d65}\\x{10d6f}-\\x{10d85}\\x{10ec2}-\\x{10ec4}\\x{1123f}-\\x{11240}\\x{11380}-\\x{11389}"
    "\\x{1138b}\\x{1138e}\\x{11390}-\\x{113b5}\\x{113b7}\\x{113d1}\\x{113d3}\\x{11bc0}-\\x{11be0}"
    "\\x{11f02}\\x{11f04}-\\x{11f10}\\x{11f12}-\\x{11f33}\\x{1342f}\\x{13441}-\\x{13446}\\x{13460}-"
    "\\x{143fa}\\x{16100}-\\x{1611d}\\x{16d40}-\\x{16d6c}\\x{18cff}\\x{1b132}\\x{1b155}\\x{1df25}-"
    "\\x{1df2a}\\x{1e030}-\\x{1e06d}\\x{1e4d0}-\\x{1e4eb}\\x{1e5d0}-\\x{1e5ed}\\x{1e5f0}\\x{2b739}"
    "\\x{2ebf0}-\\x{2ee5d}\\x{31350}-\\x{323af}";
constexpr std::string_view kNewNumbers =
    "\\x{10d40}-\\x{10d49}\\x{116d0}-\\x{116e3}\\x{11bf0}-\\x{11bf9}\\x{11f50}-\\x{11f59}\\x{16130}"
    "-"
    "\\x{16139}\\x{16d70}-\\x{16d79}\\x{1ccf0}-\\x{1ccf9}\\x{1d2c0}-\\x{1d2d3}\\x{1e4f0}-\\x{1e4f9}"
    "\\x{1e5f1}-\\x{1e5fa}";

std::string error_text(int code) {
  PCRE2_UCHAR buffer[256];
  pcre2_get_error_message(code, buffer, sizeof(buffer));
  return reinterpret_cast<const char*>(buffer);
}

// Spells out \s, \S, \p{L} and \p{N}, and refuses what the two libraries read differently.
class Translator {
 public:
  Translator(std::string_view pattern, std::string_view where) : in_(pattern), where_(where) {}

  std::string run() {
    for (at_ = 0; at_ < in_.size(); ++at_) {
      const char c = in_[at_];
      if (c == '\\') {
        escape();
        continue;
      }
      if (in_class_ && (c == '[' || in_.substr(at_).starts_with("&&"))) {
        TW_FAIL(Unsupported, where_, ": nested character classes are not supported");
      }
      out_ += c;
      if (c == '[') open_class();
      if (c == ']') in_class_ = false;
    }
    return out_;
  }

 private:
  // A ']' right after '[' or '[^' stands for itself.
  void open_class() {
    in_class_ = true;
    if (at_ + 1 < in_.size() && in_[at_ + 1] == '^') out_ += in_[++at_];
    if (at_ + 1 < in_.size() && in_[at_ + 1] == ']') {
      out_ += "\\]";
      ++at_;
    }
  }

  void put_class(std::string_view members) {
    out_ += in_class_ ? std::string(members) : str('[', members, ']');
  }

  void escape() {
    TW_CHECK(at_ + 1 < in_.size(), Format, where_, ": the pattern ends in a backslash");
    const char c = in_[++at_];
    const std::string_view rest = in_.substr(at_);
    if (c == 's') {
      put_class(kWhiteSpaceClass);
    } else if (rest.starts_with("p{L}") || rest.starts_with("p{N}")) {
      const bool letters = rest[2] == 'L';
      put_class(letters ? str("\\p{L}", kNewLetters) : str("\\p{N}", kNewNumbers));
      at_ += 3;
    } else if (c == 'S' && !in_class_) {
      out_ += str("[^", kWhiteSpaceClass, ']');
    } else {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      constexpr std::string_view kSame = "pPrntfvdDwWbBxS";
      TW_CHECK(!letter || kSame.find(c) != std::string_view::npos, Unsupported, where_,
               ": the escape \\", c, " is not supported");
      out_ += '\\';
      out_ += c;
    }
  }

  std::string_view in_, where_;
  std::string out_;
  std::size_t at_ = 0;
  bool in_class_ = false;
};

// What a thread needs to match; made once a thread.
struct Scratch {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(32 << 10, 1 << 20, nullptr);
  Scratch() {
    TW_CHECK(data != nullptr && context != nullptr, OutOfMemory, "PCRE2: no memory to match");
    if (stack != nullptr) pcre2_jit_stack_assign(context, nullptr, stack);
  }
  ~Scratch() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

}  // namespace

struct Regex::Code {
  explicit Code(pcre2_code* compiled) : value(compiled) {}
  ~Code() { pcre2_code_free(value); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  pcre2_code* value;
};

Regex::Regex(std::string_view pattern, std::string_view where)
    : where_(str(where, ": pattern '", pattern, "'")) {
  const std::string text = Translator(pattern, where_).run();
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr);
  TW_CHECK(code != nullptr, Format, where_, ": ", error_text(error), " at ", offset, " of ", text);
  code_ = std::make_shared<const Code>(code);
  // Without a JIT compiler for this processor the interpreter is used.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
}

void Regex::for_each(std::string_view text,
                     const std::function<void(std::size_t, std::size_t)>& found) const {
  thread_local Scratch scratch;
  // Linear patterns give back at most the text; more than that is a pattern out of hand.
  pcre2_set_match_limit(scratch.context,
                        std::uint32_t(100'000 + std::min<std::size_t>(16 * text.size(), 1U << 30)));
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(scratch.data);
  for (std::size_t at = 0; at <= text.size();) {
    const int result = pcre2_match(code_->value, subject, text.size(), at, PCRE2_NO_UTF_CHECK,
                                   scratch.data, scratch.context);
    if (result == PCRE2_ERROR_NOMATCH) return;
    TW_CHECK(result >= 0, Unsupported, where_, ": ", error_text(result));
    const std::size_t begin = bounds[0], end = bounds[1];
    TW_CHECK(begin >= at && begin <= end, Unsupported, where_, ": \\K is not supported");
    found(begin, end);
    at = end;
    if (begin == end) at += end < text.size() ? decode_utf8(text.substr(end)).length : 1;
  }
}

}  // namespace tilewright
