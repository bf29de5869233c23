// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/builtins.h"
#include "tilewright/llm/chat/text_methods.h"
#include "tilewright/llm/chat/text_tools.h"

namespace tilewright::chat {
namespace {

using V = const Value&;
using A = const Arguments&;
using B = Budget&;
using Filter = Value (*)(V, A, B);

Value make(std::string text) { return Value::text(std::move(text)); }

Value trim(V value, A arguments, B budget) {
  const std::string text = to_text(value, budget);
  const Value* characters = arguments.find(0, "chars");
  if (characters == nullptr || characters->is_none()) return make(std::string(strip(text)));
  return make(std::string(strip(text, need_text(*characters, "chars"), true, true)));
}

Value to_json_text(V value, A arguments, B budget) {
  JsonStyle style;
  const auto flag = [&](std::size_t at, const char* name) {
    const Value* given = arguments.find(at, name);
    return given != nullptr && given->truthy();
  };
  style.ascii_only = flag(0, "ensure_ascii");
  if (const Value* indent = arguments.find(1, "indent"); indent != nullptr && !indent->is_none()) {
    style.indent = int(std::clamp<std::int64_t>(indent->to_integer("indent"), 0, 1000));
    style.item_separator.assign(1, ',');
  }
  const Value* separators = arguments.find(2, "separators");
  if (separators != nullptr && !separators->is_none()) {
    const List* pair = separators->as_list();
    TW_CHECK(pair != nullptr && pair->items.size() == 2, Format,
             "chat template: separators want two texts");
    style.item_separator = need_text(pair->items[0], "a separator");
    style.key_separator = need_text(pair->items[1], "a separator");
  }
  style.sort_keys = flag(3, "sort_keys");
  return make(to_json(value, style, budget));
}

Value fallback(V value, A arguments, B) {
  const Value* boolean = arguments.find(1, "boolean");
  const bool by_truth = boolean != nullptr && boolean->truthy();
  if (!value.is_undefined() && (!by_truth || value.truthy())) return value;
  const Value* other = arguments.find(0, "default_value");
  return other == nullptr ? make("") : *other;
}

Value join(V value, A arguments, B budget) {
  std::vector<Value> items = iterate(value, budget);
  if (const Value* attribute = arguments.find(1, "attribute")) {
    for (Value& item : items) item = get_item(item, *attribute, budget);
  }
  const Value* separator = arguments.find(0, "d");
  const std::string by = separator == nullptr ? "" : need_text(*separator, "the separator");
  return make(join_texts(by, items, true, budget));
}

Value edge(V value, B budget, bool last) {
  std::vector<Value> items = iterate(value, budget);
  if (items.empty()) return Value::undefined("an item of nothing");
  return last ? items.back() : items.front();
}

Value reverse(V value, A, B budget) {
  std::vector<Value> items = iterate(value, budget);
  std::reverse(items.begin(), items.end());
  if (value.as_text() == nullptr) return Value::list(std::move(items));
  return make(join_texts("", items, false, budget));
}

Value replace(V value, A arguments, B budget) {
  const Value* count = arguments.find(2, "count");
  const bool limited = count != nullptr && !count->is_none();
  return make(replace_all(to_text(value, budget), need_text(arguments.get(0, "old"), "old"),
                          need_text(arguments.get(1, "new"), "new"),
                          limited ? count->to_integer("count") : -1, budget));
}

template <class Number>
bool parse_all(std::string_view text, Number& number) {
  text = strip(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Value to_integer(V value, A arguments, B) {
  const Value* other = arguments.find(0, "default");
  const Value missing = other == nullptr ? Value::integer(0) : *other;
  std::int64_t whole = 0;
  double number = 0;
  if (value.is_integer()) return Value::integer(value.to_integer("a number"));
  if (const std::string* text = value.as_text()) {
    if (parse_all(*text, whole)) return Value::integer(whole);
    if (!parse_all(*text, number)) return missing;
  } else if (value.is_number()) {
    number = value.to_double();
  } else {
    return missing;
  }
  return std::abs(number) < 9e18 ? Value::integer(std::int64_t(number)) : missing;
}

Value to_number(V value, A arguments, B) {
  double number = 0;
  if (value.is_number()) return Value::number(value.to_double());
  if (value.as_text() != nullptr && parse_all(*value.as_text(), number)) {
    return Value::number(number);
  }
  const Value* other = arguments.find(0, "default");
  return other == nullptr ? Value::number(0) : *other;
}

Value absolute(V value, A, B) {
  if (!value.is_integer()) return Value::number(std::abs(value.to_double()));
  const std::int64_t number = value.to_integer("a number");
  TW_CHECK(number != INT64_MIN, Format, "chat template: abs: out of range");
  return Value::integer(std::abs(number));
}

Value items(V value, A arguments, B budget) {
  if (value.is_undefined()) return Value::list({});
  TW_CHECK(value.as_dict() != nullptr, Format, "chat template: items of a ", value.type_name());
  return call_method(value, "items", arguments, budget);
}

Value indent(V value, A arguments, B budget) {
  const Value* width = arguments.find(0, "width");
  const auto flag = [&](std::size_t at, const char* name) {
    const Value* given = arguments.find(at, name);
    return given != nullptr && given->truthy();
  };
  const bool first = flag(1, "first"), blank = flag(2, "blank");
  std::string pad(4, ' ');
  if (width != nullptr) {
    pad = width->as_text() != nullptr
              ? *width->as_text()
              : std::string(
                    std::size_t(std::clamp<std::int64_t>(width->to_integer("width"), 0, 999)), ' ');
  }
  std::string text = to_text(value, budget);
  budget.charge_text(text.size() * (1 + pad.size()));
  // Jinja cuts into lines after adding one newline, so that a last newline keeps its empty line.
  const std::vector<Value> lines = split_lines(text + '\n', budget);
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = *lines[i].as_text();
    if (i > 0) out += '\n';
    if (i > 0 ? blank || !line.empty() : first) out += pad;
    out += line;
  }
  return make(std::move(out));
}

Value unique(V value, A, B budget) {
  std::vector<Value> kept;
  for (const Value& item : iterate(value, budget)) {
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const Value& other) {
      if (item.as_text() != nullptr && other.as_text() != nullptr) {
        return to_lower(*item.as_text()) == to_lower(*other.as_text());
      }
      return equal(item, other, budget);
    });
    budget.charge(kept.size());
    if (!known) kept.push_back(item);
  }
  return Value::list(std::move(kept));
}

// The arguments after the first `count`.
Arguments rest(const Arguments& arguments, std::size_t count) {
  Arguments result;
  for (std::size_t i = count; i < arguments.positional.size(); ++i) {
    result.positional.push_back(arguments.positional[i]);
  }
  result.named = arguments.named;
  return result;
}

Value map(V value, A arguments, B budget) {
  std::vector<Value> results;
  const Value* attribute = arguments.positional.empty() ? arguments.find(0, "attribute") : nullptr;
  const Value* missing = arguments.find(arguments.positional.size(), "default");
  for (const Value& item : iterate(value, budget)) {
    if (attribute != nullptr) {
      const Value found = get_item(item, *attribute, budget);
      results.push_back(found.is_undefined() && missing != nullptr ? *missing : found);
    } else {
      const std::string& name = need_text(arguments.get(0, "filter"), "the filter of map");
      results.push_back(apply_filter(name, item, rest(arguments, 1), budget));
    }
  }
  return Value::list(std::move(results));
}

// select, reject, selectattr, rejectattr: by truth, or by a test.
Value select(V value, A arguments, B budget, bool keep, bool by_attribute) {
  const std::size_t skip = by_attribute ? 1 : 0;
  std::vector<Value> kept;
  for (const Value& item : iterate(value, budget)) {
    const Value tested =
        by_attribute ? get_item(item, arguments.get(0, "attribute"), budget) : item;
    const bool passes = arguments.positional.size() > skip
                            ? apply_test(need_text(arguments.positional[skip], "the test"), tested,
                                         rest(arguments, skip + 1), budget)
                            : tested.truthy();
    if (passes == keep) kept.push_back(item);
  }
  return Value::list(std::move(kept));
}

struct Entry {
  Filter run;
  std::size_t most = 0;
  std::vector<std::string_view> names = {};
};

const std::map<std::string_view, Entry>& table() {
  static const Entry kLength{[](V v, A, B) { return Value::integer(length(v)); }};
  static const Entry kDefault{fallback, 2, {"default_value", "boolean"}};
  static const std::map<std::string_view, Entry> kFilters{
      {"trim", {trim, 1, {"chars"}}},
      {"length", kLength},
      {"count", kLength},
      {"tojson", {to_json_text, 4, {"ensure_ascii", "indent", "separators", "sort_keys"}}},
      {"upper", {[](V v, A, B b) { return make(to_upper(to_text(v, b))); }}},
      {"lower", {[](V v, A, B b) { return make(to_lower(to_text(v, b))); }}},
      {"title", {[](V v, A, B b) { return make(title_words(to_text(v, b))); }}},
      {"capitalize", {[](V v, A, B b) { return make(capitalize(to_text(v, b))); }}},
      {"default", kDefault},
      {"d", kDefault},
      {"join", {join, 2, {"d", "attribute"}}},
      {"first", {[](V v, A, B b) { return edge(v, b, false); }}},
      {"last", {[](V v, A, B b) { return edge(v, b, true); }}},
      {"list", {[](V v, A, B b) { return Value::list(iterate(v, b)); }}},
      {"reverse", {reverse}},
      {"replace", {replace, 3, {"old", "new", "count"}}},
      {"string", {[](V v, A, B b) { return make(to_text(v, b)); }}},
      {"safe", {[](V v, A, B b) { return make(to_text(v, b)); }}},
      {"int", {to_integer, 1, {"default"}}},
      {"float", {to_number, 1, {"default"}}},
      {"abs", {absolute}},
      {"items", {items}},
      {"indent", {indent, 3, {"width", "first", "blank"}}},
      {"unique", {unique}},
      {"map", {map, 8, {"attribute", "default"}}},
      {"select", {[](V v, A a, B b) { return select(v, a, b, true, false); }, 8}},
      {"reject", {[](V v, A a, B b) { return select(v, a, b, false, false); }, 8}},
      {"selectattr", {[](V v, A a, B b) { return select(v, a, b, true, true); }, 8}},
      {"rejectattr", {[](V v, A a, B b) { return select(v, a, b, false, true); }, 8}},
  };
  return kFilters;
}

}  // namespace

bool is_filter(std::string_view name) { return table().contains(name); }

Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments,
                   Budget& budget) {
  const auto found = table().find(name);
  TW_CHECK(found != table().end(), Unsupported, "chat template: the filter '", name,
           "' is not supported");
  const Entry& filter = found->second;
  arguments.check(name, filter.most, filter.names);
  const std::string* text = value.as_text();
  budget.charge_text(text == nullptr ? 0 : text->size());
  return filter.run(value, arguments, budget);
}

}  // namespace tilewright::chat
