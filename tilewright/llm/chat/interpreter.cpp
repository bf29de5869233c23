// SPDX-License-Identifier: Apache-2.0
// Statements; expressions are in evaluate.cpp.
#include "tilewright/llm/chat/interpreter.h"

#include "tilewright/base/error.h"

namespace tilewright::chat {
namespace {

constexpr std::size_t kMaxOutput = 64 << 20;
// Macros may call themselves: this bounds the stack.
constexpr int kMaxDepth = 600;

}  // namespace

Interpreter::Interpreter(Variables globals, std::int64_t now) : now_(now) {
  for (const std::string_view name :
       {"range", "namespace", "dict", "raise_exception", "strftime_now"}) {
    globals.emplace(name, Value(Value::Data(Builtin{name})));
  }
  scopes_.push_back(std::move(globals));
}

std::string Interpreter::run(const Block& block) {
  execute(block);
  return std::move(out_);
}

void Interpreter::write(const std::string& text) {
  budget_.charge_text(text.size());
  TW_CHECK(out_.size() + text.size() <= kMaxOutput, InvalidArgument, "chat template: more than ",
           kMaxOutput, " bytes of output");
  out_ += text;
}

Interpreter::Flow Interpreter::execute(const Block& block) {
  enter(0);
  for (const auto& statement : block) {
    const Flow flow = execute(*statement);
    if (flow == Flow::kNext) continue;
    --depth_;
    return flow;
  }
  --depth_;
  return Flow::kNext;
}

void Interpreter::enter(int line) {
  TW_CHECK(depth_ < kMaxDepth, InvalidArgument,
           "chat template: ", line == 0 ? std::string() : str("line ", line, ": "),
           "nested more than ", kMaxDepth, " deep");
  ++depth_;
}

Interpreter::Flow Interpreter::execute(const Statement& statement) {
  budget_.charge(1);
  switch (statement.kind) {
    case Statement::Kind::kText: write(statement.text); break;
    case Statement::Kind::kOutput: write(to_text(evaluate(*statement.value), budget_)); break;
    case Statement::Kind::kIf: return run_if(statement);
    case Statement::Kind::kFor: return run_for(statement);
    case Statement::Kind::kSet:
    case Statement::Kind::kSetBlock: run_set(statement); break;
    case Statement::Kind::kSetField: set_field(statement); break;
    case Statement::Kind::kMacro:
      scopes_.back().insert_or_assign(statement.text, Value(Value::Data(Macro{&statement})));
      break;
    case Statement::Kind::kBreak: return Flow::kBreak;
    case Statement::Kind::kContinue: return Flow::kContinue;
    case Statement::Kind::kBody: return execute(statement.body);
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_if(const Statement& statement) {
  for (const auto& [condition, body] : statement.branches) {
    if (condition == nullptr || evaluate(*condition).truthy()) return execute(body);
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_for(const Statement& statement) {
  const Value source = evaluate(*statement.value);
  std::shared_ptr<const List> items = source.share_list();
  if (items == nullptr) items = Value::list(iterate(source, budget_)).share_list();
  if (statement.condition != nullptr) {
    std::vector<Value> kept;
    for (const Value& item : items->items) {
      scopes_.emplace_back();
      assign(statement.names, item);
      if (evaluate(*statement.condition).truthy()) kept.push_back(item);
      scopes_.pop_back();
    }
    items = Value::list(std::move(kept)).share_list();
  }
  if (items->items.empty()) return execute(statement.otherwise);
  return run_items(statement, items);
}

Interpreter::Flow Interpreter::run_items(const Statement& statement,
                                         const std::shared_ptr<const List>& items) {
  for (std::size_t i = 0; i < items->items.size(); ++i) {
    budget_.charge(1);
    Loop loop{items, std::int64_t(i), std::int64_t(items->items.size()), items->depth};
    scopes_.emplace_back();
    scopes_.back().insert_or_assign(
        "loop", Value(Value::Data(std::make_shared<const Loop>(std::move(loop)))));
    assign(statement.names, items->items[i]);
    const Flow flow = execute(statement.body);
    scopes_.pop_back();
    if (flow == Flow::kBreak) break;
  }
  return Flow::kNext;
}

void Interpreter::assign(const std::vector<std::string>& names, const Value& value) {
  if (names.size() == 1) {
    scopes_.back().insert_or_assign(names.front(), value);
    return;
  }
  const std::vector<Value> parts = iterate(value, budget_);
  TW_CHECK(parts.size() == names.size(), Format, "chat template: ", parts.size(), " values for ",
           names.size(), " names");
  for (std::size_t i = 0; i < names.size(); ++i) {
    scopes_.back().insert_or_assign(names[i], parts[i]);
  }
}

void Interpreter::run_set(const Statement& statement) {
  if (statement.kind == Statement::Kind::kSet) {
    assign(statement.names, evaluate(*statement.value));
    return;
  }
  scopes_.emplace_back();
  std::string text = capture(statement.body);
  scopes_.pop_back();
  assign(statement.names, Value::text(std::move(text)));
}

void Interpreter::set_field(const Statement& statement) {
  Namespace* space = lookup(statement.names[0]).as_namespace();
  TW_CHECK(space != nullptr, Format, "chat template: line ", statement.line, ": '",
           statement.names[0], "' is no namespace: its fields cannot be set");
  Value value = evaluate(*statement.value);
  for (auto& [name, held] : space->items) {
    budget_.charge(1);
    if (name != statement.names[1]) continue;
    held = std::move(value);
    return;
  }
  space->items.emplace_back(statement.names[1], std::move(value));
}

std::string Interpreter::capture(const Block& block) {
  std::string outer = std::exchange(out_, {});
  execute(block);
  return std::exchange(out_, std::move(outer));
}

}  // namespace tilewright::chat
