// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/llm/tokenizer/utf8.h"

namespace tilewright {
namespace {

std::string error_text(int code) {
  PCRE2_UCHAR buffer[256];
  pcre2_get_error_message(code, buffer, sizeof(buffer));
  return reinterpret_cast<const char*>(buffer);
}

// Spells out \s and \S, and refuses what the two libraries read differently.
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

  void escape() {
    TW_CHECK(at_ + 1 < in_.size(), Format, where_, ": the pattern ends in a backslash");
    const char c = in_[++at_];
    if (c == 's') {
      out_ += in_class_ ? std::string(kWhiteSpaceClass) : str('[', kWhiteSpaceClass, ']');
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
