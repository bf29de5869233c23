// SPDX-License-Identifier: Apache-2.0
// Precedence and grammar as in Jinja: if-else, or, and, not, comparison, + -, ~, * / // %, **,
// sign, then attributes, subscripts and calls, then filters and tests.
#include "tilewright/llm/chat/expression_parser.h"

#include <algorithm>
#include <charconv>

#include "tilewright/llm/chat/builtins.h"

namespace tilewright::chat {
namespace {

using Kind = Expression::Kind;
using Type = Token::Type;

// Evaluation and destruction recurse as deep as this.
constexpr int kMaxDepth = 200;

class Parser {
 public:
  explicit Parser(TokenStream& in) : in_(in) {}

  ExpressionPtr top(bool tuples, bool conditional) {
    ExpressionPtr first = conditional ? conditional_expression() : either();
    if (!tuples || !in_.is_operator(",")) return first;
    std::vector<ExpressionPtr> items;
    items.push_back(std::move(first));
    while (in_.accept_operator(",")) {
      if (in_.is(Type::kBlockEnd) || in_.is(Type::kOutputEnd)) break;
      items.push_back(conditional ? conditional_expression() : either());
    }
    return make(Kind::kTuple, std::move(items));
  }

 private:
  // Counts recursion of the parser itself.
  struct Nested {
    explicit Nested(Parser& owner) : parser(owner) {
      if (++parser.nesting_ > kMaxDepth) parser.in_.unsupported("nesting of more than 200 levels");
    }
    ~Nested() { --parser.nesting_; }
    Parser& parser;
  };

  ExpressionPtr make(Kind kind, std::vector<ExpressionPtr> children, std::string text = {}) {
    auto node = std::make_unique<Expression>();
    node->kind = kind;
    node->line = in_.line();
    node->text = std::move(text);
    node->children = std::move(children);
    for (const ExpressionPtr& child : node->children) deepen(*node, child);
    return node;
  }
  void deepen(Expression& node, const ExpressionPtr& child) {
    if (child != nullptr) node.depth = std::max(node.depth, child->depth + 1);
    if (node.depth > kMaxDepth) in_.unsupported("an expression of more than 200 levels");
  }
  template <class... Children>
  static std::vector<ExpressionPtr> list(Children... children) {
    std::vector<ExpressionPtr> result;
    (result.push_back(std::move(children)), ...);
    return result;
  }
  ExpressionPtr literal(Value value) {
    ExpressionPtr node = make(Kind::kLiteral, {});
    node->value = std::move(value);
    return node;
  }

  ExpressionPtr conditional_expression() {
    const Nested nested(*this);
    ExpressionPtr value = either();
    while (in_.accept_name("if")) {
      ExpressionPtr condition = either();
      ExpressionPtr otherwise = in_.accept_name("else") ? conditional_expression() : nullptr;
      value = make(Kind::kConditional,
                   list(std::move(value), std::move(condition), std::move(otherwise)));
    }
    return value;
  }

  ExpressionPtr either() {
    ExpressionPtr left = both();
    while (in_.accept_name("or")) left = binary("or", std::move(left), both());
    return left;
  }

  ExpressionPtr both() {
    ExpressionPtr left = negation();
    while (in_.accept_name("and")) left = binary("and", std::move(left), negation());
    return left;
  }

  ExpressionPtr binary(std::string_view text, ExpressionPtr left, ExpressionPtr right) {
    return make(Kind::kBinary, list(std::move(left), std::move(right)), std::string(text));
  }

  ExpressionPtr negation() {
    const Nested nested(*this);
    if (!in_.accept_name("not")) return comparison();
    return make(Kind::kNot, list(negation()));
  }

  std::string comparison_operator() {
    for (const char* text : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (in_.accept_operator(text)) return text;
    }
    if (in_.accept_name("in")) return "in";
    if (in_.is_name("not") && in_.is(Type::kName, "in", 1)) {
      in_.next();
      in_.next();
      return "not in";
    }
    return {};
  }

  ExpressionPtr comparison() {
    ExpressionPtr first = sum();
    std::vector<std::string> operators;
    std::vector<ExpressionPtr> operands;
    for (std::string text; !(text = comparison_operator()).empty();) {
      operators.push_back(std::move(text));
      if (operands.empty()) operands.push_back(std::move(first));
      operands.push_back(sum());
    }
    if (operators.empty()) return first;
    ExpressionPtr node = make(Kind::kCompare, std::move(operands));
    node->operators = std::move(operators);
    return node;
  }

  // Left to right over the operators given, each side by `side`.
  ExpressionPtr chain(std::initializer_list<const char*> operators,
                      ExpressionPtr (Parser::*side)()) {
    ExpressionPtr left = (this->*side)();
    while (true) {
      const auto found = std::find_if(operators.begin(), operators.end(),
                                      [&](const char* text) { return in_.is_operator(text); });
      if (found == operators.end()) return left;
      in_.next();
      left = binary(*found, std::move(left), (this->*side)());
    }
  }
  ExpressionPtr sum() { return chain({"+", "-"}, &Parser::concatenation); }
  ExpressionPtr concatenation() { return chain({"~"}, &Parser::product); }
  ExpressionPtr product() { return chain({"*", "/", "//", "%"}, &Parser::power); }
  ExpressionPtr power() { return chain({"**"}, &Parser::filtered); }

  ExpressionPtr filtered() { return filters(sign()); }

  ExpressionPtr sign() {
    const Nested nested(*this);
    if (in_.accept_operator("-")) return make(Kind::kNegate, list(sign()));
    if (in_.accept_operator("+")) return sign();
    return postfix(primary());
  }

  ExpressionPtr primary() {
    const Nested nested(*this);
    switch (in_.peek().type) {
      case Type::kName: return name();
      case Type::kString: return string();
      case Type::kInteger: return integer();
      case Type::kFloat: return number();
      case Type::kOperator:
        if (in_.accept_operator("(")) return parenthesis();
        if (in_.accept_operator("[")) return make(Kind::kList, items_until("]"));
        if (in_.accept_operator("{")) return dict();
        break;
      default: break;
    }
    in_.fail("expected a value");
  }

  ExpressionPtr name() {
    const std::string text = in_.next().text;
    if (text == "true" || text == "True") return literal(Value::boolean(true));
    if (text == "false" || text == "False") return literal(Value::boolean(false));
    if (text == "none" || text == "None") return literal(Value::none());
    return make(Kind::kName, {}, text);
  }

  ExpressionPtr string() {
    std::string text = in_.next().text;
    while (in_.is(Type::kString)) text += in_.next().text;
    return literal(Value::text(std::move(text)));
  }

  ExpressionPtr integer() {
    const std::string text = in_.next().text;
    std::int64_t value = 0;
    const auto error = std::from_chars(text.data(), text.data() + text.size(), value).ec;
    if (error != std::errc()) in_.unsupported(str("the integer ", text));
    return literal(Value::integer(value));
  }

  ExpressionPtr number() {
    const std::string text = in_.next().text;
    double value = 0;
    const auto error = std::from_chars(text.data(), text.data() + text.size(), value).ec;
    if (error != std::errc()) in_.unsupported(str("the number ", text));
    return literal(Value::number(value));
  }

  ExpressionPtr parenthesis() {
    if (in_.accept_operator(")")) return make(Kind::kTuple, {});
    ExpressionPtr first = conditional_expression();
    if (in_.accept_operator(")")) return first;
    std::vector<ExpressionPtr> items;
    items.push_back(std::move(first));
    in_.expect_operator(",");
    for (ExpressionPtr& item : items_until(")")) items.push_back(std::move(item));
    return make(Kind::kTuple, std::move(items));
  }

  std::vector<ExpressionPtr> items_until(const char* close) {
    std::vector<ExpressionPtr> items;
    while (!in_.accept_operator(close)) {
      items.push_back(conditional_expression());
      if (in_.is_operator(close)) continue;
      in_.expect_operator(",");
    }
    return items;
  }

  ExpressionPtr dict() {
    std::vector<ExpressionPtr> items;
    while (!in_.accept_operator("}")) {
      items.push_back(conditional_expression());
      in_.expect_operator(":");
      items.push_back(conditional_expression());
      if (in_.is_operator("}")) continue;
      in_.expect_operator(",");
    }
    return make(Kind::kDict, std::move(items));
  }

  ExpressionPtr postfix(ExpressionPtr node) {
    while (true) {
      if (in_.accept_operator("."))
        node = attribute(std::move(node));
      else if (in_.accept_operator("["))
        node = subscript(std::move(node));
      else if (in_.accept_operator("("))
        node = call(std::move(node));
      else
        return node;
    }
  }

  ExpressionPtr attribute(ExpressionPtr object) {
    if (in_.is(Type::kInteger)) return make(Kind::kSubscript, list(std::move(object), integer()));
    const std::string text = in_.expect_name("the name of an attribute");
    if (in_.is_operator("(") && !is_method(text)) in_.unsupported(str("the method .", text, "()"));
    return make(Kind::kAttribute, list(std::move(object)), text);
  }

  ExpressionPtr subscript(ExpressionPtr object) {
    ExpressionPtr parts[3];
    int colons = 0;
    for (; !in_.accept_operator("]");) {
      if (in_.accept_operator(":")) {
        if (++colons > 2) in_.fail("a slice has at most two colons");
        continue;
      }
      if (parts[colons] != nullptr) in_.fail("expected ']'");
      parts[colons] = conditional_expression();
      if (in_.is_operator(",")) in_.unsupported("a subscript of several values");
    }
    if (colons > 0) {
      return make(Kind::kSlice, list(std::move(object), std::move(parts[0]), std::move(parts[1]),
                                     std::move(parts[2])));
    }
    if (parts[0] == nullptr) in_.fail("a subscript is empty");
    return make(Kind::kSubscript, list(std::move(object), std::move(parts[0])));
  }

  ExpressionPtr call(ExpressionPtr callee) {
    ExpressionPtr node = make(Kind::kCall, list(std::move(callee)));
    arguments(*node);
    return node;
  }

  void arguments(Expression& node) {
    while (!in_.accept_operator(")")) {
      if (in_.is_operator("*") || in_.is_operator("**")) in_.unsupported("unpacking of arguments");
      if (in_.is(Type::kName) && in_.is(Type::kOperator, "=", 1)) {
        std::string text = in_.next().text;
        in_.next();
        node.named.emplace_back(std::move(text), conditional_expression());
        deepen(node, node.named.back().second);
      } else {
        if (!node.named.empty()) in_.fail("a positional argument after a named one");
        node.children.push_back(conditional_expression());
        deepen(node, node.children.back());
      }
      if (in_.is_operator(")")) continue;
      in_.expect_operator(",");
    }
  }

  ExpressionPtr filters(ExpressionPtr node) {
    while (true) {
      if (in_.accept_operator("|"))
        node = filter(std::move(node));
      else if (in_.accept_name("is"))
        node = test(std::move(node));
      else if (in_.accept_operator("("))
        node = call(std::move(node));
      else
        return node;
    }
  }

  ExpressionPtr filter(ExpressionPtr value) {
    const std::string text = in_.expect_name("the name of a filter");
    if (!is_filter(text)) in_.unsupported(str("the filter '", text, "'"));
    ExpressionPtr node = make(Kind::kFilter, list(std::move(value)), text);
    if (in_.accept_operator("(")) arguments(*node);
    return node;
  }

  ExpressionPtr test(ExpressionPtr value) {
    const bool negated = in_.accept_name("not");
    const std::string text = in_.expect_name("the name of a test");
    if (!is_test(text)) in_.unsupported(str("the test '", text, "'"));
    ExpressionPtr node = make(Kind::kTest, list(std::move(value)), text);
    if (in_.accept_operator("(")) {
      arguments(*node);
    } else if (starts_argument()) {
      node->children.push_back(postfix(primary()));
      deepen(*node, node->children.back());
    }
    return negated ? make(Kind::kNot, list(std::move(node))) : std::move(node);
  }

  bool starts_argument() const {
    switch (in_.peek().type) {
      case Type::kString:
      case Type::kInteger:
      case Type::kFloat: return true;
      case Type::kOperator: return in_.is_operator("[") || in_.is_operator("{");
      case Type::kName: break;
      default: return false;
    }
    for (const char* word : {"else", "or", "and", "if", "in", "not", "is"}) {
      if (in_.is_name(word)) return false;
    }
    return true;
  }

  TokenStream& in_;
  int nesting_ = 0;
};

}  // namespace

ExpressionPtr parse_expression(TokenStream& in, bool tuples, bool conditional) {
  return Parser(in).top(tuples, conditional);
}

}  // namespace tilewright::chat
