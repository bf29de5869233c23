// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/lexer.h"

namespace tilewright::chat {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[at_ + ahead < tokens_.size() ? at_ + ahead : tokens_.size() - 1];
  }
  Token next() {
    Token token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  int line() const { return peek().line; }

  bool is(Token::Type type) const { return peek().type == type; }
  bool is(Token::Type type, std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).type == type && peek(ahead).text == text;
  }
  bool is_operator(std::string_view text) const { return is(Token::Type::kOperator, text); }
  bool is_name(std::string_view text) const { return is(Token::Type::kName, text); }
  bool accept(Token::Type type, std::string_view text) {
    if (!is(type, text)) return false;
    next();
    return true;
  }
  bool accept_operator(std::string_view text) { return accept(Token::Type::kOperator, text); }
  bool accept_name(std::string_view text) { return accept(Token::Type::kName, text); }

  void expect_operator(std::string_view text) {
    if (!accept_operator(text)) fail(str("expected '", text, "'"));
  }
  std::string expect_name(std::string_view what) {
    if (!is(Token::Type::kName)) fail(str("expected ", what));
    return next().text;
  }
  void expect(Token::Type type, std::string_view what) {
    if (!is(type)) fail(str("expected ", what));
    next();
  }

  [[noreturn]] void fail(std::string_view what) const {
    TW_FAIL(Format, "chat template: line ", line(), ": ", what, ", got ", describe());
  }
  [[noreturn]] void unsupported(std::string_view what) const {
    TW_FAIL(Unsupported, "chat template: line ", line(), ": ", what, " is not supported");
  }

 private:
  std::string describe() const {
    using Type = Token::Type;
    switch (peek().type) {
      case Type::kEnd: return "the end of the template";
      case Type::kText: return "text";
      case Type::kOutputBegin: return "{{";
      case Type::kOutputEnd: return "}}";
      case Type::kBlockBegin: return "{%";
      case Type::kBlockEnd: return "%}";
      default: return str("'", peek().text, "'");
    }
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace tilewright::chat
