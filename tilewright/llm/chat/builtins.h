// SPDX-License-Identifier: Apache-2.0
// Filters, tests and methods by name. Each throws FormatError for arguments it does not take.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/llm/chat/value.h"

namespace tilewright::chat {

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
  // By position or by name; null when not given.
  const Value* find(std::size_t position, std::string_view name) const;
  const Value& get(std::size_t position, std::string_view name) const;  // throws FormatError
  // Throws FormatError for more than `most`, or for a name that is not among `names`.
  void check(std::string_view what, std::size_t most,
             const std::vector<std::string_view>& names = {}) const;
};

bool is_filter(std::string_view name);
bool is_test(std::string_view name);
bool is_method(std::string_view name);

Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments,
                   Budget& budget);
bool apply_test(std::string_view name, const Value& value, const Arguments& arguments,
                Budget& budget);
// Throws Unsupported when the object's type has no such method here.
Value call_method(const Value& object, std::string_view name, const Arguments& arguments,
                  Budget& budget);

// What a for goes over: items, keys or characters; nothing for an undefined value.
std::vector<Value> iterate(const Value& value, Budget& budget);
std::int64_t length(const Value& value);
// object.name or object['name'] of a dict or a namespace; undefined when there is none.
Value get_item(const Value& object, const Value& key, Budget& budget);
bool contains(const Value& container, const Value& item, Budget& budget);
// The text of a string; throws FormatError naming `what`.
const std::string& need_text(const Value& value, std::string_view what);

}  // namespace tilewright::chat
