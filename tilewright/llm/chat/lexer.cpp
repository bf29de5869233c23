// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/chat/lexer.h"

#include <algorithm>
#include <array>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/text_tools.h"

namespace tilewright::chat {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

// One kind of line end, and no newline at the very end: what Jinja does first.
std::string normalize_newlines(std::string_view source) {
  std::string out;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize_newlines(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      const std::size_t tag = find_tag();
      const std::string_view text = view().substr(at_, tag - at_);
      if (tag == source_.size()) {
        add_text(text);
        at_ = tag;
        break;
      }
      add_text(strip_before_tag(text, tag));
      count_lines(text);
      at_ = tag;
      tag_at();
    }
    add(Token::Type::kEnd, "");
    return std::move(tokens_);
  }

 private:
  std::string_view view() const { return source_; }
  char peek(std::size_t offset = 0) const {
    return at_ + offset < source_.size() ? source_[at_ + offset] : '\0';
  }
  bool looking_at(std::string_view text) const { return view().substr(at_).starts_with(text); }
  void add(Token::Type type, std::string text) {
    tokens_.push_back({type, std::move(text), line_});
  }
  void count_lines(std::string_view text) {
    line_ += int(std::count(text.begin(), text.end(), '\n'));
  }
  void skip(std::size_t count) {
    count_lines(view().substr(at_, count));
    at_ += count;
  }
  void add_text(std::string_view text) {
    if (!text.empty()) add(Token::Type::kText, std::string(text));
  }
  [[noreturn]] void fail(std::string_view what) const {
    TW_FAIL(Format, "chat template: line ", line_, ": ", what);
  }

  std::size_t find_tag() const {
    for (std::size_t i = at_; i + 1 < source_.size(); ++i) {
      if (source_[i] == '{' && std::string_view("{%#").find(source_[i + 1]) != std::string::npos) {
        return i;
      }
    }
    return source_.size();
  }

  // Text before a tag: '-' takes all white space; without a sign, a block or comment that only
  // white space precedes on its line takes that.
  std::string_view strip_before_tag(std::string_view text, std::size_t tag) const {
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    if (sign == '-') return strip_right(text);
    if (sign == '+' || source_[tag + 1] == '{') return text;
    const std::size_t newline = text.rfind('\n');
    if (newline == std::string_view::npos && !line_starting_) return text;
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    return strip_left(text.substr(begin)).empty() ? text.substr(0, begin) : text;
  }

  void tag_at() {
    const char kind = source_[at_ + 1];
    skip(2);
    if (peek() == '-' || (peek() == '+' && kind != '{')) skip(1);
    if (kind == '#') return comment();
    if (kind == '%' && raw()) return;
    add(kind == '{' ? Token::Type::kOutputBegin : Token::Type::kBlockBegin, "");
    expression(kind == '{' ? "}}" : "%}", kind == '{');
  }

  // After the end of a tag: '-' takes all white space, a block without sign takes one newline.
  void finish_tag(char sign, bool output) {
    const std::size_t before = at_;
    if (sign == '-') {
      const std::string_view rest = view().substr(at_);
      skip(rest.size() - strip_left(rest).size());
    } else if (sign != '+' && !output && peek() == '\n') {
      skip(1);
    }
    line_starting_ = at_ > before && source_[at_ - 1] == '\n';
  }

  void comment() {
    const std::size_t end = view().find("#}", at_);
    if (end == std::string_view::npos) fail("a comment has no end");
    const char sign = end > at_ ? source_[end - 1] : '\0';
    skip(end + 2 - at_);
    finish_tag(sign, false);
  }

  // {% raw %} … {% endraw %}; true when it was one.
  bool raw() {
    const std::size_t begin = skip_space(at_);
    if (!is_word(begin, "raw")) return false;
    std::size_t end = skip_space(begin + 3);
    const bool strip = view().substr(end).starts_with("-%}");
    if (strip) ++end;
    if (!view().substr(end).starts_with("%}")) return false;
    skip(end + 2 - at_);
    line_starting_ = false;
    if (strip) finish_tag('-', false);
    for (std::size_t i = at_; (i = view().find("{%", i)) != std::string_view::npos; i += 2) {
      std::size_t word = i + 2;
      if (word < source_.size() && (source_[word] == '-' || source_[word] == '+')) ++word;
      word = skip_space(word);
      if (!is_word(word, "endraw")) continue;
      const std::string_view text = view().substr(at_, i - at_);
      add_text(strip_before_tag(text, i));
      std::size_t close = skip_space(word + 6);
      const char sign = close < source_.size() ? source_[close] : '\0';
      if (sign == '-' || sign == '+') ++close;
      if (!view().substr(close).starts_with("%}")) fail("endraw takes nothing");
      skip(close + 2 - at_);
      finish_tag(sign, false);
      return true;
    }
    fail("raw has no endraw");
  }

  std::size_t skip_space(std::size_t at) const {
    while (at < source_.size() &&
           std::string_view(" \t\n\f\v").find(source_[at]) != std::string::npos) {
      ++at;
    }
    return at;
  }
  bool is_word(std::size_t at, std::string_view word) const {
    if (!view().substr(std::min(at, source_.size())).starts_with(word)) return false;
    const std::size_t end = at + word.size();
    return end >= source_.size() || !(is_name_start(source_[end]) || is_digit(source_[end]));
  }

  void expression(std::string_view close, bool output) {
    std::string open;  // brackets not yet closed: "}}" inside a dict is no end
    while (true) {
      skip(skip_space(at_) - at_);
      if (at_ >= source_.size()) fail(str("a tag has no ", close));
      if (open.empty()) {
        const char sign = peek();
        const bool signed_end =
            (sign == '-' || (sign == '+' && !output)) && view().substr(at_ + 1).starts_with(close);
        if (signed_end || looking_at(close)) {
          add(output ? Token::Type::kOutputEnd : Token::Type::kBlockEnd, "");
          skip(close.size() + (signed_end ? 1 : 0));
          return finish_tag(signed_end ? sign : '\0', output);
        }
      }
      one_token(open);
    }
  }

  void one_token(std::string& open) {
    const char c = peek();
    if (c == '\'' || c == '"') return string();
    if (is_digit(c)) return number();
    if (is_name_start(c)) {
      std::size_t end = at_;
      while (end < source_.size() && (is_name_start(source_[end]) || is_digit(source_[end]))) ++end;
      add(Token::Type::kName, source_.substr(at_, end - at_));
      at_ = end;
      return;
    }
    static constexpr std::array<std::string_view, 7> kLong{"==", "!=", ">=", "<=", "//", "**", ""};
    for (const std::string_view text : kLong) {
      if (text.empty() || !looking_at(text)) continue;
      add(Token::Type::kOperator, std::string(text));
      at_ += text.size();
      return;
    }
    if (std::string_view("+-/*%~[](){}<>=.:|,;").find(c) == std::string_view::npos) {
      fail(str("unexpected character '", c, "'"));
    }
    balance(c, open);
    add(Token::Type::kOperator, std::string(1, c));
    ++at_;
  }

  void balance(char c, std::string& open) const {
    if (c == '(') open += ')';
    if (c == '[') open += ']';
    if (c == '{') open += '}';
    if (c != ')' && c != ']' && c != '}') return;
    if (open.empty() || open.back() != c) fail(str("unexpected '", c, "'"));
    open.pop_back();
  }

  void number() {
    std::string digits;
    bool is_float = false;
    const auto take_digits = [&] {
      while (is_digit(peek()) || (peek() == '_' && is_digit(peek(1)))) {
        if (peek() != '_') digits += peek();
        ++at_;
      }
    };
    take_digits();
    if (peek() == '.' && is_digit(peek(1))) {
      is_float = true;
      digits += '.';
      ++at_;
      take_digits();
    }
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      is_float = true;
      digits += source_.substr(at_, 1 + sign);
      at_ += 1 + sign;
      take_digits();
    }
    if (is_name_start(peek())) fail("a number runs into a name");
    add(is_float ? Token::Type::kFloat : Token::Type::kInteger, digits);
  }

  void string() {
    const char quote = peek();
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail("a string has no end");
    add(Token::Type::kString, unescape(view().substr(at_ + 1, end - at_ - 1), line_));
    skip(end + 1 - at_);
  }

  std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace tilewright::chat
