// SPDX-License-Identifier: Apache-2.0
// What all kinds of values share: arguments, iteration, length, items.
#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/builtins.h"
#include "tilewright/llm/chat/text_tools.h"

namespace tilewright::chat {

const Value* Arguments::find(std::size_t position, std::string_view name) const {
  if (position < positional.size()) return &positional[position];
  for (const auto& [key, value] : named) {
    if (key == name) return &value;
  }
  return nullptr;
}

const Value& Arguments::get(std::size_t position, std::string_view name) const {
  const Value* value = find(position, name);
  TW_CHECK(value != nullptr, Format, "chat template: the argument ", name, " is missing");
  return *value;
}

void Arguments::check(std::string_view what, std::size_t most,
                      const std::vector<std::string_view>& names) const {
  TW_CHECK(positional.size() <= most, Format, "chat template: ", what, " takes at most ", most,
           " arguments, got ", positional.size());
  for (const auto& [name, value] : named) {
    TW_CHECK(std::find(names.begin(), names.end(), name) != names.end(), Unsupported,
             "chat template: the argument '", name, "' of ", what, " is not supported");
  }
}

const std::string& need_text(const Value& value, std::string_view what) {
  const std::string* text = value.as_text();
  const auto* missing = value.get_if<Undefined>();
  TW_CHECK(missing == nullptr, Format, "chat template: '", missing->name, "' is undefined");
  TW_CHECK(text != nullptr, Format, "chat template: ", what, " is ", value.type_name(),
           ", wants a string");
  return *text;
}

std::vector<Value> iterate(const Value& value, Budget& budget) {
  std::vector<Value> items;
  if (const List* list = value.as_list()) {
    budget.charge(list->items.size());
    return list->items;
  }
  if (const Dict* dict = value.as_dict()) {
    budget.charge(dict->items.size());
    for (const auto& [key, item] : dict->items) items.push_back(key);
    return items;
  }
  if (const std::string* text = value.as_text()) {
    budget.charge(text->size());
    const std::vector<std::size_t> offsets = character_offsets(*text);
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      items.push_back(Value::text(text->substr(offsets[i], offsets[i + 1] - offsets[i])));
    }
    return items;
  }
  TW_CHECK(value.is_undefined(), Format, "chat template: cannot go over a ", value.type_name());
  return items;
}

std::int64_t length(const Value& value) {
  if (const List* list = value.as_list()) return std::int64_t(list->items.size());
  if (const Dict* dict = value.as_dict()) return std::int64_t(dict->items.size());
  if (const std::string* text = value.as_text()) return character_count(*text);
  TW_CHECK(value.is_undefined(), Format, "chat template: a ", value.type_name(), " has no length");
  return 0;
}

namespace {

Value item_at(const Value& object, std::int64_t index, Budget& budget) {
  const std::int64_t count = length(object);
  if (index < 0) index += count;
  if (index < 0 || index >= count) return Value::undefined("an item past the end");
  if (const List* list = object.as_list()) return list->items[std::size_t(index)];
  const std::string& text = *object.as_text();
  budget.charge_text(text.size());
  const std::vector<std::size_t> offsets = character_offsets(text);
  const std::size_t begin = offsets[std::size_t(index)];
  return Value::text(text.substr(begin, offsets[std::size_t(index) + 1] - begin));
}

}  // namespace

Value get_item(const Value& object, const Value& key, Budget& budget) {
  budget.charge(1);
  if (const auto* missing = object.get_if<Undefined>()) {
    TW_FAIL(Format, "chat template: '", missing->name, "' is undefined");
  }
  if (const Dict* dict = object.as_dict()) {
    budget.charge(1 + dict->items.size() / 8);
    if (const Value* value = dict->find(key)) return *value;
  } else if (const Namespace* space = object.as_namespace()) {
    for (const auto& [name, value] : space->items) {
      budget.charge(1);
      if (key.as_text() != nullptr && name == *key.as_text()) return value;
    }
  } else if (key.is_integer() && (object.as_list() != nullptr || object.as_text() != nullptr)) {
    return item_at(object, key.to_integer("a subscript"), budget);
  }
  return Value::undefined(key.as_text() != nullptr ? *key.as_text() : to_repr(key, budget));
}

bool contains(const Value& container, const Value& item, Budget& budget) {
  if (const std::string* text = container.as_text()) {
    const std::string& part = need_text(item, "the left side of in");
    budget.charge_search(text->size(), part.size());
    return text->find(part) != std::string::npos;
  }
  if (const Dict* dict = container.as_dict()) {
    budget.charge(dict->items.size());
    return dict->find(item) != nullptr;
  }
  const List* list = container.as_list();
  TW_CHECK(list != nullptr || container.is_undefined(), Format, "chat template: in a ",
           container.type_name(), " nothing can be looked for");
  return list != nullptr &&
         std::any_of(list->items.begin(), list->items.end(),
                     [&](const Value& other) { return equal(item, other, budget); });
}

}  // namespace tilewright::chat
