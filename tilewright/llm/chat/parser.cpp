// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/chat/parser.h"

#include "tilewright/llm/chat/expression_parser.h"

namespace tilewright::chat {
namespace {

using Kind = Statement::Kind;
using Type = Token::Type;

constexpr int kMaxDepth = 100;

class Parser {
 public:
  explicit Parser(std::string_view source) : in_(tokenize(source)) {}

  Block all() {
    Block block = statements({});
    if (!in_.is(Type::kEnd)) in_.fail("expected a statement that begins here");
    return block;
  }

 private:
  using Words = std::initializer_list<const char*>;

  std::unique_ptr<Statement> make(Kind kind) {
    auto statement = std::make_unique<Statement>();
    statement->kind = kind;
    statement->line = in_.line();
    return statement;
  }

  bool at_word(Words words) const {
    for (const char* word : words) {
      if (in_.is(Type::kName, word, 1)) return true;
    }
    return false;
  }

  // Up to a block that begins with one of the words, which is left, or the end.
  Block statements(Words until) {
    if (++depth_ > kMaxDepth) in_.unsupported("nesting of more than 100 statements");
    Block block;
    while (!in_.is(Type::kEnd)) {
      if (in_.is(Type::kText)) {
        block.push_back(make(Kind::kText));
        block.back()->text = in_.next().text;
      } else if (in_.is(Type::kOutputBegin)) {
        in_.next();
        block.push_back(make(Kind::kOutput));
        block.back()->value = parse_expression(in_, true);
        in_.expect(Type::kOutputEnd, "}}");
      } else {
        if (in_.is(Type::kBlockBegin) && at_word(until)) break;
        in_.expect(Type::kBlockBegin, "{%");
        block.push_back(statement());
      }
    }
    --depth_;
    return block;
  }

  void block_end() { in_.expect(Type::kBlockEnd, "%}"); }

  // {% word %}, where statements() stopped.
  void close(const char* word) {
    in_.expect(Type::kBlockBegin, str("{% ", word, " %}"));
    if (!in_.accept_name(word)) in_.fail(str("expected ", word));
    block_end();
  }

  std::unique_ptr<Statement> statement() {
    if (in_.accept_name("if")) return if_statement();
    if (in_.accept_name("for")) return for_statement();
    if (in_.accept_name("set")) return set_statement();
    if (in_.accept_name("macro")) return macro_statement();
    if (in_.is_name("break") || in_.is_name("continue")) return jump();
    if (in_.accept_name("generation")) {
      block_end();
      auto body = make(Kind::kBody);
      body->body = statements({"endgeneration"});
      close("endgeneration");
      return body;
    }
    const std::string word = in_.is(Type::kName) ? in_.peek().text : std::string();
    if (word.empty() || word.starts_with("end") || word == "else" || word == "elif") {
      in_.fail("expected a statement");
    }
    in_.unsupported(str("the statement '", word, "'"));
  }

  std::unique_ptr<Statement> if_statement() {
    auto result = make(Kind::kIf);
    while (true) {
      ExpressionPtr condition = parse_expression(in_, true);
      block_end();
      result->branches.emplace_back(std::move(condition), statements({"elif", "else", "endif"}));
      in_.expect(Type::kBlockBegin, "{% endif %}");
      if (in_.accept_name("elif")) continue;
      if (in_.accept_name("else")) {
        block_end();
        result->branches.emplace_back(nullptr, statements({"endif"}));
        in_.expect(Type::kBlockBegin, "{% endif %}");
      }
      if (!in_.accept_name("endif")) in_.fail("expected endif");
      block_end();
      return result;
    }
  }

  std::unique_ptr<Statement> for_statement() {
    auto result = make(Kind::kFor);
    const bool parenthesis = in_.accept_operator("(");
    do {
      if (!result->names.empty() && !in_.is(Type::kName)) break;
      result->names.push_back(in_.expect_name("the name of a loop variable"));
    } while (in_.accept_operator(","));
    if (parenthesis) in_.expect_operator(")");
    if (!in_.accept_name("in")) in_.fail("expected in");
    result->value = parse_expression(in_, true, false);
    if (in_.accept_name("if")) result->condition = parse_expression(in_);
    if (in_.is_name("recursive")) in_.unsupported("a recursive for");
    block_end();
    ++loops_;
    result->body = statements({"else", "endfor"});
    --loops_;
    if (at_word({"else"})) {
      close("else");
      result->otherwise = statements({"endfor"});
    }
    close("endfor");
    return result;
  }

  std::unique_ptr<Statement> set_statement() {
    auto result = make(Kind::kSet);
    result->names.push_back(in_.expect_name("the name of a variable"));
    if (in_.accept_operator(".")) {
      result->kind = Kind::kSetField;
      result->names.push_back(in_.expect_name("the name of a field"));
    }
    while (result->kind == Kind::kSet && in_.accept_operator(",")) {
      result->names.push_back(in_.expect_name("the name of a variable"));
    }
    if (in_.accept_operator("=")) {
      result->value = parse_expression(in_, true);
      block_end();
      return result;
    }
    if (in_.is_operator("|")) in_.unsupported("a filter on a block set");
    if (result->names.size() != 1) in_.fail("expected '='");
    block_end();
    result->kind = Kind::kSetBlock;
    result->body = statements({"endset"});
    close("endset");
    return result;
  }

  std::unique_ptr<Statement> macro_statement() {
    auto result = make(Kind::kMacro);
    result->text = in_.expect_name("the name of a macro");
    in_.expect_operator("(");
    while (!in_.accept_operator(")")) {
      result->names.push_back(in_.expect_name("the name of a parameter"));
      if (in_.accept_operator("=")) {
        result->defaults.emplace_back(result->names.back(), parse_expression(in_));
      } else if (!result->defaults.empty()) {
        in_.fail("a parameter without default after one that has it");
      }
      if (!in_.is_operator(")")) in_.expect_operator(",");
    }
    block_end();
    const int loops = std::exchange(loops_, 0);
    result->body = statements({"endmacro"});
    loops_ = loops;
    close("endmacro");
    return result;
  }

  std::unique_ptr<Statement> jump() {
    auto result = make(in_.is_name("break") ? Kind::kBreak : Kind::kContinue);
    if (loops_ == 0) in_.fail("break and continue stand in a for");
    in_.next();
    block_end();
    return result;
  }

  TokenStream in_;
  int depth_ = 0, loops_ = 0;
};

}  // namespace

Block parse_template(std::string_view source) { return Parser(source).all(); }

}  // namespace tilewright::chat
