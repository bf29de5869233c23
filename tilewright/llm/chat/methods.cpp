// SPDX-License-Identifier: Apache-2.0
// Methods of strings and dicts.
#include <algorithm>
#include <map>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/builtins.h"
#include "tilewright/llm/chat/text_methods.h"
#include "tilewright/llm/chat/text_tools.h"

namespace tilewright::chat {
namespace {

using TextMethod = Value (*)(const std::string&, const Arguments&, Budget&);
using DictMethod = Value (*)(const Dict&, const Arguments&, Budget&);

Value stripped(const std::string& text, const Arguments& arguments, bool left, bool right) {
  arguments.check("strip", 1);
  std::string_view result = text;
  const Value* characters = arguments.find(0, "chars");
  if (characters != nullptr && !characters->is_none()) {
    result = strip(text, need_text(*characters, "the characters to strip"), left, right);
  } else {
    if (left) result = strip_left(result);
    if (right) result = strip_right(result);
  }
  return Value::text(std::string(result));
}

Value split(const std::string& text, const Arguments& arguments, bool from_right, Budget& budget) {
  arguments.check("split", 2, {"sep", "maxsplit"});
  const Value* separator = arguments.find(0, "sep");
  const Value* most = arguments.find(1, "maxsplit");
  const std::int64_t limit = most == nullptr ? -1 : most->to_integer("maxsplit");
  if (separator == nullptr || separator->is_none()) {
    return Value::list(split_words(text, limit, from_right, budget));
  }
  const std::string& by = need_text(*separator, "the separator");
  return Value::list(split_at(text, by, limit, from_right, budget));
}

// startswith and endswith take one text or a tuple of them.
template <class Matches>
Value any_of_texts(const Arguments& arguments, std::string_view what, const Matches& matches) {
  arguments.check(what, 1);
  const Value& wanted = arguments.get(0, "prefix");
  if (const List* list = wanted.as_list()) {
    return Value::boolean(std::any_of(list->items.begin(), list->items.end(),
                                      [&](const Value& v) { return matches(need_text(v, what)); }));
  }
  return Value::boolean(matches(need_text(wanted, what)));
}

Value find(const std::string& text, const Arguments& arguments, bool last, Budget& budget) {
  arguments.check("find", 1);
  const std::string& part = need_text(arguments.get(0, "sub"), "the text to find");
  budget.charge_search(text.size(), part.size());
  const std::size_t at = last ? text.rfind(part) : text.find(part);
  if (at == std::string::npos) return Value::integer(-1);
  return Value::integer(character_count(std::string_view(text).substr(0, at)));
}

Value count(const std::string& text, const Arguments& arguments, Budget& budget) {
  arguments.check("count", 1);
  const std::string& part = need_text(arguments.get(0, "sub"), "the text to count");
  if (part.empty()) return Value::integer(character_count(text) + 1);
  const auto pieces = split_at(text, part, -1, false, budget);
  return Value::integer(std::int64_t(pieces.size()) - 1);
}

Value replace(const std::string& text, const Arguments& arguments, Budget& budget) {
  arguments.check("replace", 3);
  const Value* limit = arguments.find(2, "count");
  return Value::text(replace_all(text, need_text(arguments.get(0, "old"), "the text to replace"),
                                 need_text(arguments.get(1, "new"), "the replacement"),
                                 limit == nullptr ? -1 : limit->to_integer("count"), budget));
}

Value without_affix(const std::string& text, const Arguments& arguments, bool prefix) {
  arguments.check("removeprefix", 1);
  const std::string& affix = need_text(arguments.get(0, "prefix"), "the text to remove");
  if (prefix && text.starts_with(affix)) return Value::text(text.substr(affix.size()));
  if (!prefix && text.ends_with(affix)) {
    return Value::text(text.substr(0, text.size() - affix.size()));
  }
  return Value::text(text);
}

Value is_digits(const std::string& text) {
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) {
    TW_CHECK((c & 0x80) == 0, Unsupported, "chat template: isdigit beyond ASCII is not supported");
    return c >= '0' && c <= '9';
  });
  return Value::boolean(digits && !text.empty());
}

const std::map<std::string_view, TextMethod>& text_methods() {
  using S = const std::string&;
  using A = const Arguments&;
  using B = Budget&;
  static const std::map<std::string_view, TextMethod> kMethods{
      {"strip", [](S s, A a, B) { return stripped(s, a, true, true); }},
      {"lstrip", [](S s, A a, B) { return stripped(s, a, true, false); }},
      {"rstrip", [](S s, A a, B) { return stripped(s, a, false, true); }},
      {"split", [](S s, A a, B b) { return split(s, a, false, b); }},
      {"rsplit", [](S s, A a, B b) { return split(s, a, true, b); }},
      {"splitlines",
       [](S s, A a, B b) {
         a.check("splitlines", 0);
         return Value::list(split_lines(s, b));
       }},
      {"startswith",
       [](S s, A a, B) {
         return any_of_texts(a, "startswith", [&](S part) { return s.starts_with(part); });
       }},
      {"endswith",
       [](S s, A a, B) {
         return any_of_texts(a, "endswith", [&](S part) { return s.ends_with(part); });
       }},
      {"find", [](S s, A a, B b) { return find(s, a, false, b); }},
      {"rfind", [](S s, A a, B b) { return find(s, a, true, b); }},
      {"count", count},
      {"replace", replace},
      {"removeprefix", [](S s, A a, B) { return without_affix(s, a, true); }},
      {"removesuffix", [](S s, A a, B) { return without_affix(s, a, false); }},
      {"upper", [](S s, A a, B) { return a.check("upper", 0), Value::text(to_upper(s)); }},
      {"lower", [](S s, A a, B) { return a.check("lower", 0), Value::text(to_lower(s)); }},
      {"title", [](S s, A a, B) { return a.check("title", 0), Value::text(title(s)); }},
      {"capitalize",
       [](S s, A a, B) { return a.check("capitalize", 0), Value::text(capitalize(s)); }},
      {"isdigit", [](S s, A a, B) { return a.check("isdigit", 0), is_digits(s); }},
      {"join",
       [](S s, A a, B b) {
         a.check("join", 1);
         return Value::text(join_texts(s, iterate(a.get(0, "iterable"), b), false, b));
       }},
  };
  return kMethods;
}

Value get_or_default(const Dict& dict, const Arguments& arguments, Budget& budget) {
  arguments.check("get", 2);
  budget.charge(1 + dict.items.size() / 8);
  if (const Value* value = dict.find(arguments.get(0, "key"))) return *value;
  const Value* fallback = arguments.find(1, "default");
  return fallback == nullptr ? Value::none() : *fallback;
}

template <class Pick>
Value collect(const Dict& dict, const Arguments& arguments, Budget& budget, const Pick& pick) {
  arguments.check("a method of a dict", 0);
  budget.charge(dict.items.size());
  std::vector<Value> items;
  for (const auto& [key, value] : dict.items) items.push_back(pick(key, value));
  return Value::list(std::move(items));
}

const std::map<std::string_view, DictMethod>& dict_methods() {
  using D = const Dict&;
  using A = const Arguments&;
  using B = Budget&;
  using V = const Value&;
  static const std::map<std::string_view, DictMethod> kMethods{
      {"get", get_or_default},
      {"items",
       [](D d, A a, B b) {
         return collect(d, a, b, [](V key, V value) { return Value::list({key, value}, true); });
       }},
      {"keys", [](D d, A a, B b) { return collect(d, a, b, [](V key, V) { return key; }); }},
      {"values", [](D d, A a, B b) { return collect(d, a, b, [](V, V value) { return value; }); }},
  };
  return kMethods;
}

}  // namespace

bool is_method(std::string_view name) {
  return text_methods().contains(name) || dict_methods().contains(name) || name == "cycle";
}

Value call_method(const Value& object, std::string_view name, const Arguments& arguments,
                  Budget& budget) {
  if (const auto* missing = object.get_if<Undefined>()) {
    TW_FAIL(Format, "chat template: '", missing->name, "' is undefined");
  }
  if (const std::string* text = object.as_text()) {
    budget.charge_text(text->size());
    const auto found = text_methods().find(name);
    if (found != text_methods().end()) return found->second(*text, arguments, budget);
  }
  if (const Dict* dict = object.as_dict()) {
    const auto found = dict_methods().find(name);
    if (found != dict_methods().end()) return found->second(*dict, arguments, budget);
  }
  TW_FAIL(Unsupported, "chat template: the method .", name, "() of a ", object.type_name(),
          " is not supported");
}

}  // namespace tilewright::chat
