// SPDX-License-Identifier: Apache-2.0
// JSON in and out, the latter as Python's json.dumps() writes it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/text_tools.h"
#include "tilewright/llm/chat/value.h"
#include "tilewright/llm/formats/json_access.h"

namespace tilewright::chat {
namespace {

using Json = nlohmann::ordered_json;

class Writer {
 public:
  Writer(const JsonStyle& style, Budget& budget) : style_(style), budget_(budget) {}

  void write(const Value& value, int level) {
    budget_.charge_text(out_.size() / 64);
    if (const std::string* text = value.as_text()) {
      budget_.charge_text(text->size());
      out_ += json_quote(*text, style_.ascii_only);
    } else if (const List* list = value.as_list()) {
      write_list(*list, level);
    } else if (const Dict* dict = value.as_dict()) {
      write_dict(*dict, level);
    } else {
      out_ += scalar(value);
    }
  }
  std::string take() { return std::move(out_); }

 private:
  static std::string scalar(const Value& value) {
    if (value.is_none()) return "null";
    if (const auto* flag = value.get_if<bool>()) return *flag ? "true" : "false";
    if (value.is_integer()) return std::to_string(value.to_integer(""));
    TW_CHECK(value.is_number(), Format, "chat template: tojson: a ", value.type_name(),
             " cannot be written as JSON");
    const std::string text = float_text(value.to_double());
    return text == "nan" ? "NaN" : text == "inf" ? "Infinity" : text == "-inf" ? "-Infinity" : text;
  }

  void new_line(int level) {
    if (style_.indent < 0) return;
    const std::size_t width = std::size_t(style_.indent) * std::size_t(level);
    budget_.charge_text(width);
    out_ += '\n';
    out_.append(width, ' ');
  }

  void write_list(const List& list, int level) {
    out_ += '[';
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      new_line(level + 1);
      write(list.items[i], level + 1);
    }
    if (!list.items.empty()) new_line(level);
    out_ += ']';
  }

  void write_dict(const Dict& dict, int level) {
    std::vector<std::pair<std::string, const Value*>> items;
    for (const auto& [key, value] : dict.items) {
      items.emplace_back(key.as_text() != nullptr ? *key.as_text() : scalar(key), &value);
    }
    if (style_.sort_keys) std::stable_sort(items.begin(), items.end(), by_key);
    out_ += '{';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      new_line(level + 1);
      out_ += json_quote(items[i].first, style_.ascii_only) + style_.key_separator;
      write(*items[i].second, level + 1);
    }
    if (!items.empty()) new_line(level);
    out_ += '}';
  }

  static bool by_key(const std::pair<std::string, const Value*>& a,
                     const std::pair<std::string, const Value*>& b) {
    return a.first < b.first;
  }

  const JsonStyle& style_;
  Budget& budget_;
  std::string out_;
};

Value convert(const Json& json, std::string_view what, int depth) {
  TW_CHECK(depth < 60, InvalidArgument, what, ": JSON nested too deep");
  if (json.is_null()) return Value::none();
  if (json.is_boolean()) return Value::boolean(json.get<bool>());
  if (json.is_number_integer()) return Value::integer(json_int(json, "a number", what));
  if (json.is_number()) return Value::number(json.get<double>());
  if (json.is_string()) return Value::text(json.get<std::string>());
  if (json.is_array()) {
    std::vector<Value> items;
    for (const Json& item : json) items.push_back(convert(item, what, depth + 1));
    return Value::list(std::move(items));
  }
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [key, value] : json.items()) {
    items.emplace_back(Value::text(key), convert(value, what, depth + 1));
  }
  return Value::dict(std::move(items));
}

}  // namespace

std::string to_json(const Value& value, const JsonStyle& style, Budget& budget) {
  Writer writer(style, budget);
  writer.write(value, 0);
  return writer.take();
}

Value from_json(std::string_view json, std::string_view what) {
  return convert(parse_json<Json>(json, what), what, 0);
}

}  // namespace tilewright::chat
