// SPDX-License-Identifier: Apache-2.0
// What may follow `is`.
#include <map>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/builtins.h"
#include "tilewright/llm/chat/text_tools.h"

namespace tilewright::chat {
namespace {

using Test = bool (*)(const Value&, const Arguments&, Budget&);

bool is_sequence(const Value& v) {
  return v.as_list() != nullptr || v.as_dict() != nullptr || v.as_text() != nullptr ||
         v.is_undefined();
}

std::int64_t remainder(const Value& value, std::int64_t by) {
  const std::int64_t number = value.to_integer("a number to divide");
  TW_CHECK(by != 0, Format, "chat template: division by zero");
  return by == -1 ? 0 : number % by;
}

const std::map<std::string_view, Test>& table() {
  using V = const Value&;
  using A = const Arguments&;
  using B = Budget&;
  static const Test kEqual = [](V v, A a, B b) { return equal(v, a.get(0, "other"), b); };
  static const std::map<std::string_view, Test> kTests{
      {"defined", [](V v, A, B) { return !v.is_undefined(); }},
      {"undefined", [](V v, A, B) { return v.is_undefined(); }},
      {"none", [](V v, A, B) { return v.is_none(); }},
      {"mapping", [](V v, A, B) { return v.as_dict() != nullptr; }},
      {"string", [](V v, A, B) { return v.as_text() != nullptr; }},
      {"iterable", [](V v, A, B) { return is_sequence(v); }},
      {"sequence", [](V v, A, B) { return is_sequence(v); }},
      {"number", [](V v, A, B) { return v.is_number(); }},
      {"integer", [](V v, A, B) { return v.get_if<std::int64_t>() != nullptr; }},
      {"float", [](V v, A, B) { return v.get_if<double>() != nullptr; }},
      {"boolean", [](V v, A, B) { return v.get_if<bool>() != nullptr; }},
      {"true", [](V v, A, B) { return v.get_if<bool>() != nullptr && v.truthy(); }},
      {"false", [](V v, A, B) { return v.get_if<bool>() != nullptr && !v.truthy(); }},
      {"odd", [](V v, A, B) { return remainder(v, 2) != 0; }},
      {"even", [](V v, A, B) { return remainder(v, 2) == 0; }},
      {"divisibleby",
       [](V v, A a, B) { return remainder(v, a.get(0, "num").to_integer("num")) == 0; }},
      {"in", [](V v, A a, B b) { return contains(a.get(0, "seq"), v, b); }},
      {"equalto", kEqual},
      {"eq", kEqual},
      {"ne", [](V v, A a, B b) { return !equal(v, a.get(0, "other"), b); }},
      {"lt", [](V v, A a, B b) { return compare(v, a.get(0, "other"), b) < 0; }},
      {"le", [](V v, A a, B b) { return compare(v, a.get(0, "other"), b) <= 0; }},
      {"gt", [](V v, A a, B b) { return compare(v, a.get(0, "other"), b) > 0; }},
      {"ge", [](V v, A a, B b) { return compare(v, a.get(0, "other"), b) >= 0; }},
  };
  return kTests;
}

}  // namespace

bool is_test(std::string_view name) { return table().contains(name); }

bool apply_test(std::string_view name, const Value& value, const Arguments& arguments,
                Budget& budget) {
  const auto found = table().find(name);
  TW_CHECK(found != table().end(), Unsupported, "chat template: the test '", name,
           "' is not supported");
  arguments.check(name, 1);
  return found->second(value, arguments, budget);
}

}  // namespace tilewright::chat
