// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/llm/chat/ast.h"
#include "tilewright/llm/chat/builtins.h"

namespace tilewright::chat {

using Variables = std::map<std::string, Value, std::less<>>;

// Runs one rendering. Depth, steps and output are bounded.
class Interpreter {
 public:
  Interpreter(Variables globals, std::int64_t now);
  std::string run(const Block& block);

 private:
  enum class Flow { kNext, kBreak, kContinue };

  // One level deeper; throws InvalidArgument past the limit.
  void enter(int line);
  Flow execute(const Block& block);
  Flow execute(const Statement& statement);
  Flow run_if(const Statement& statement);
  Flow run_for(const Statement& statement);
  Flow run_items(const Statement& statement, const std::shared_ptr<const List>& items);
  void run_set(const Statement& statement);
  void set_field(const Statement& statement);
  void assign(const std::vector<std::string>& names, const Value& value);
  std::string capture(const Block& block);

  Value evaluate(const Expression& node);
  Value evaluate_kind(const Expression& node);
  Value binary(const Expression& node);
  bool compare_chain(const Expression& node);
  bool compare_pair(const std::string& text, const Value& a, const Value& b);
  Value attribute(const Expression& node);
  Value slice(const Expression& node);
  Value call(const Expression& node);
  Value call_function(std::string_view name, const Arguments& arguments);
  Value call_macro(const Statement& macro, const Arguments& arguments);
  Arguments arguments_of(const Expression& node);
  Value lookup(const std::string& name) const;
  Value make_namespace(const Arguments& arguments);
  void write(const std::string& text);

  std::vector<Variables> scopes_;
  std::vector<std::unique_ptr<Namespace>> namespaces_;
  std::string out_;
  Budget budget_;
  std::int64_t now_;
  int depth_ = 0;
};

}  // namespace tilewright::chat
