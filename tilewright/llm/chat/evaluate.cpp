// SPDX-License-Identifier: Apache-2.0
// Expressions of the interpreter.
#include <algorithm>

#include <optional>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/arithmetic.h"
#include "tilewright/llm/chat/interpreter.h"
#include "tilewright/llm/chat/text_tools.h"

namespace tilewright::chat {
namespace {

bool names_a_line(const Error& error) {
  return std::string_view(error.what()).find("chat template: line ") != std::string_view::npos;
}

}  // namespace

// Adds the line to what went wrong below, once.
Value Interpreter::evaluate(const Expression& node) {
  budget_.charge(1);
  enter(node.line);
  try {
    Value value = evaluate_kind(node);
    --depth_;
    return value;
  } catch (const Error& error) {
    if (names_a_line(error)) throw;
    std::string_view what = error.what();
    constexpr std::string_view kStart = "chat template: ";
    if (what.starts_with(kStart)) what.remove_prefix(kStart.size());
    throw_error(error.kind(), str(kStart, "line ", node.line, ": ", what));
  }
}

Value Interpreter::evaluate_kind(const Expression& node) {
  using Kind = Expression::Kind;
  const auto child = [&](std::size_t i) { return evaluate(*node.children[i]); };
  switch (node.kind) {
    case Kind::kLiteral: return node.value;
    case Kind::kName: return lookup(node.text);
    case Kind::kList:
    case Kind::kTuple: {
      std::vector<Value> items;
      for (const auto& item : node.children) items.push_back(evaluate(*item));
      return Value::list(std::move(items), node.kind == Kind::kTuple);
    }
    case Kind::kDict: {
      std::vector<std::pair<Value, Value>> items;
      for (std::size_t i = 0; i < node.children.size(); i += 2) {
        Value key = child(i);
        items.emplace_back(std::move(key), child(i + 1));
      }
      return Value::dict(std::move(items));
    }
    case Kind::kNot: return Value::boolean(!child(0).truthy());
    case Kind::kNegate: return negate(child(0));
    case Kind::kBinary: return binary(node);
    case Kind::kCompare: return Value::boolean(compare_chain(node));
    case Kind::kConditional:
      if (child(1).truthy()) return child(0);
      return node.children[2] == nullptr ? Value::undefined("an if without else") : child(2);
    case Kind::kAttribute: return attribute(node);
    case Kind::kSubscript: {
      const Value object = child(0);
      return get_item(object, child(1), budget_);
    }
    case Kind::kSlice: return slice(node);
    case Kind::kCall: return call(node);
    case Kind::kFilter: {
      const Value value = child(0);
      return apply_filter(node.text, value, arguments_of(node), budget_);
    }
    case Kind::kTest: {
      const Value value = child(0);
      return Value::boolean(apply_test(node.text, value, arguments_of(node), budget_));
    }
  }
  TW_FAIL(Internal, "chat template: an expression of no kind");
}

Value Interpreter::lookup(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->find(name);
    if (found != scope->end()) return found->second;
  }
  return Value::undefined(name);
}

Value Interpreter::binary(const Expression& node) {
  const std::string& text = node.text;
  Value left = evaluate(*node.children[0]);
  if (text == "and") return left.truthy() ? evaluate(*node.children[1]) : left;
  if (text == "or") return left.truthy() ? left : evaluate(*node.children[1]);
  return arithmetic(text, left, evaluate(*node.children[1]), budget_);
}

bool Interpreter::compare_chain(const Expression& node) {
  Value left = evaluate(*node.children[0]);
  for (std::size_t i = 0; i < node.operators.size(); ++i) {
    Value right = evaluate(*node.children[i + 1]);
    if (!compare_pair(node.operators[i], left, right)) return false;
    left = std::move(right);
  }
  return true;
}

bool Interpreter::compare_pair(const std::string& text, const Value& a, const Value& b) {
  if (text == "==") return equal(a, b, budget_);
  if (text == "!=") return !equal(a, b, budget_);
  if (text == "in") return contains(b, a, budget_);
  if (text == "not in") return !contains(b, a, budget_);
  for (const Value* side : {&a, &b}) {
    const auto* missing = side->get_if<Undefined>();
    TW_CHECK(missing == nullptr, Format, "chat template: '", missing->name, "' is undefined");
  }
  const int order = compare(a, b, budget_);
  if (text == "<") return order < 0;
  if (text == "<=") return order <= 0;
  return text == ">" ? order > 0 : order >= 0;
}

namespace {

Value loop_field(const Loop& loop, const std::string& name) {
  const auto item = [&](std::int64_t index, const char* what) {
    const bool inside = index >= 0 && index < loop.length;
    return inside ? loop.items->items[std::size_t(index)] : Value::undefined(what);
  };
  if (name == "index") return Value::integer(loop.index0 + 1);
  if (name == "index0") return Value::integer(loop.index0);
  if (name == "first") return Value::boolean(loop.index0 == 0);
  if (name == "last") return Value::boolean(loop.index0 + 1 == loop.length);
  if (name == "length") return Value::integer(loop.length);
  if (name == "revindex") return Value::integer(loop.length - loop.index0);
  if (name == "revindex0") return Value::integer(loop.length - loop.index0 - 1);
  if (name == "previtem") return item(loop.index0 - 1, "loop.previtem");
  if (name == "nextitem") return item(loop.index0 + 1, "loop.nextitem");
  TW_FAIL(Unsupported, "chat template: loop.", name, " is not supported");
}

}  // namespace

Value Interpreter::attribute(const Expression& node) {
  const Value object = evaluate(*node.children[0]);
  if (const auto* loop = object.get_if<std::shared_ptr<const Loop>>()) {
    return loop_field(**loop, node.text);
  }
  return get_item(object, Value::text(node.text), budget_);
}

Value Interpreter::slice(const Expression& node) {
  const Value object = evaluate(*node.children[0]);
  std::optional<std::int64_t> bounds[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (node.children[i + 1] == nullptr) continue;
    const Value bound = evaluate(*node.children[i + 1]);
    if (!bound.is_none()) bounds[i] = bound.to_integer("a bound of a slice");
  }
  return take_slice(object, bounds[0], bounds[1], bounds[2].value_or(1), budget_);
}

Arguments Interpreter::arguments_of(const Expression& node) {
  Arguments arguments;
  for (std::size_t i = 1; i < node.children.size(); ++i) {
    arguments.positional.push_back(evaluate(*node.children[i]));
  }
  for (const auto& [name, value] : node.named) {
    arguments.named.emplace_back(name, evaluate(*value));
  }
  return arguments;
}

Value Interpreter::call(const Expression& node) {
  const Expression& callee = *node.children[0];
  if (callee.kind == Expression::Kind::kAttribute) {
    const Value object = evaluate(*callee.children[0]);
    const Arguments arguments = arguments_of(node);
    const auto* loop = object.get_if<std::shared_ptr<const Loop>>();
    if (loop == nullptr) return call_method(object, callee.text, arguments, budget_);
    TW_CHECK(callee.text == "cycle" && !arguments.positional.empty(), Unsupported,
             "chat template: loop.", callee.text, "() is not supported");
    const auto count = std::int64_t(arguments.positional.size());
    return arguments.positional[std::size_t((*loop)->index0 % count)];
  }
  const Value function = evaluate(callee);
  const Arguments arguments = arguments_of(node);
  if (const auto* macro = function.get_if<Macro>())
    return call_macro(*macro->definition, arguments);
  if (const auto* builtin = function.get_if<Builtin>()) {
    return call_function(builtin->name, arguments);
  }
  const auto* missing = function.get_if<Undefined>();
  TW_CHECK(missing == nullptr, Unsupported, "chat template: the function '", missing->name,
           "' is not supported");
  TW_FAIL(Format, "chat template: a ", function.type_name(), " cannot be called");
}

Value Interpreter::call_macro(const Statement& macro, const Arguments& arguments) {
  arguments.check(str("the macro ", macro.text), macro.names.size(),
                  {macro.names.begin(), macro.names.end()});
  Variables scope;
  for (std::size_t i = 0; i < macro.names.size(); ++i) {
    const std::string& name = macro.names[i];
    const Value* given = arguments.find(i, name);
    if (given != nullptr) scope.insert_or_assign(name, *given);
  }
  // A macro sees its parameters and what stands at the top, not the loops around the call.
  std::vector<Variables> outer;
  std::swap(outer, scopes_);
  scopes_.push_back(std::move(outer.front()));
  scopes_.push_back(std::move(scope));
  for (const auto& [name, value] : macro.defaults) {
    if (!scopes_.back().contains(name)) scopes_.back().insert_or_assign(name, evaluate(*value));
  }
  for (const std::string& name : macro.names) scopes_.back().emplace(name, Value::undefined(name));
  std::string text = capture(macro.body);
  outer.front() = std::move(scopes_.front());
  scopes_ = std::move(outer);
  return Value::text(std::move(text));
}

}  // namespace tilewright::chat
