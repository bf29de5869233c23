// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/chat/value.h"

#include <algorithm>
#include <cmath>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/text_tools.h"

namespace tilewright::chat {
namespace {

constexpr std::size_t kMaxText = 64 << 20;
constexpr int kMaxNesting = 64;

int checked_depth(int inner) {
  TW_CHECK(inner < kMaxNesting, InvalidArgument, "chat template: values nested more than ",
           kMaxNesting, " deep");
  return inner + 1;
}

// Keys that Python finds equal; no key holds another value.
bool same_key(const Value& a, const Value& b) {
  if (a.as_text() != nullptr && b.as_text() != nullptr) return *a.as_text() == *b.as_text();
  if (a.is_number() && b.is_number()) return a.to_double() == b.to_double();
  return a.is_none() && b.is_none();
}

}  // namespace

void Budget::charge(std::size_t units) {
  TW_CHECK(units <= left_, InvalidArgument,
           "chat template: it takes too long or makes too much text");
  left_ -= units;
}

void Budget::charge_text(std::size_t bytes) {
  TW_CHECK(bytes <= kMaxText, InvalidArgument, "chat template: a text of more than ", kMaxText,
           " bytes");
  charge(1 + bytes / 32);
}

const Value* Dict::find(const Value& key) const {
  for (const auto& [name, value] : items) {
    if (same_key(name, key)) return &value;
  }
  return nullptr;
}

Value Value::list(std::vector<Value> items, bool tuple) {
  List list;
  for (const Value& item : items) list.depth = std::max(list.depth, checked_depth(item.depth()));
  list.items = std::move(items);
  list.tuple = tuple;
  return Value(std::make_shared<const List>(std::move(list)));
}

Value Value::dict(std::vector<std::pair<Value, Value>> items) {
  Dict dict;
  for (auto& [key, value] : items) {
    TW_CHECK(key.as_text() != nullptr || key.is_number() || key.is_none(), Unsupported,
             "chat template: a ", key.type_name(), " as a key is not supported");
    dict.depth = std::max(dict.depth, checked_depth(value.depth()));
    if (const Value* place = dict.find(key)) {
      const_cast<Value&>(*place) = std::move(value);
    } else {
      dict.items.emplace_back(std::move(key), std::move(value));
    }
  }
  return Value(std::make_shared<const Dict>(std::move(dict)));
}

const std::string* Value::as_text() const {
  const auto* held = get_if<std::shared_ptr<const std::string>>();
  return held == nullptr ? nullptr : held->get();
}

const List* Value::as_list() const {
  const auto* held = get_if<std::shared_ptr<const List>>();
  return held == nullptr ? nullptr : held->get();
}

std::shared_ptr<const List> Value::share_list() const {
  const auto* held = get_if<std::shared_ptr<const List>>();
  return held == nullptr ? nullptr : *held;
}

const Dict* Value::as_dict() const {
  const auto* held = get_if<std::shared_ptr<const Dict>>();
  return held == nullptr ? nullptr : held->get();
}

Namespace* Value::as_namespace() const {
  const auto* held = get_if<Namespace*>();
  return held == nullptr ? nullptr : *held;
}

bool Value::is_integer() const {
  return get_if<std::int64_t>() != nullptr || get_if<bool>() != nullptr;
}

bool Value::is_number() const { return is_integer() || get_if<double>() != nullptr; }

std::int64_t Value::to_integer(std::string_view what) const {
  if (const auto* number = get_if<std::int64_t>()) return *number;
  if (const auto* flag = get_if<bool>()) return *flag ? 1 : 0;
  TW_FAIL(Format, "chat template: ", what, " is ", type_name(), ", wants an integer");
}

double Value::to_double() const {
  if (const auto* number = get_if<double>()) return *number;
  return double(to_integer("a number"));
}

bool Value::truthy() const {
  if (const auto* flag = get_if<bool>()) return *flag;
  if (is_number()) return to_double() != 0;
  if (as_text() != nullptr) return !as_text()->empty();
  if (as_list() != nullptr) return !as_list()->items.empty();
  if (as_dict() != nullptr) return !as_dict()->items.empty();
  return !is_undefined() && !is_none();
}

std::string_view Value::type_name() const {
  constexpr std::string_view kNames[] = {"undefined", "None", "bool",  "int",
                                         "float",     "str",  "list",  "dict",
                                         "namespace", "loop", "macro", "function"};
  return kNames[data_.index()];
}

int Value::depth() const {
  if (as_list() != nullptr) return as_list()->depth;
  if (as_dict() != nullptr) return as_dict()->depth;
  if (const auto* loop = get_if<std::shared_ptr<const Loop>>()) return (*loop)->depth;
  return 0;
}

bool equal(const Value& a, const Value& b, Budget& budget) {
  budget.charge(1);
  if (a.is_number() && b.is_number()) return compare(a, b, budget) == 0;
  if (a.as_text() != nullptr && b.as_text() != nullptr) {
    budget.charge_text(a.as_text()->size());
    return *a.as_text() == *b.as_text();
  }
  if (a.as_list() != nullptr && b.as_list() != nullptr) {
    const auto &left = a.as_list()->items, &right = b.as_list()->items;
    return a.as_list()->tuple == b.as_list()->tuple &&
           std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [&](const Value& x, const Value& y) { return equal(x, y, budget); });
  }
  if (a.as_dict() != nullptr && b.as_dict() != nullptr) {
    const auto &left = *a.as_dict(), &right = *b.as_dict();
    budget.charge(left.items.size() * right.items.size());
    return left.items.size() == right.items.size() &&
           std::all_of(left.items.begin(), left.items.end(), [&](const auto& item) {
             const Value* other = right.find(item.first);
             return other != nullptr && equal(item.second, *other, budget);
           });
  }
  if (a.as_namespace() != nullptr) return a.as_namespace() == b.as_namespace();
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

int compare(const Value& a, const Value& b, Budget& budget) {
  budget.charge(1);
  const auto sign = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (a.is_integer() && b.is_integer()) return sign(a.to_integer(""), b.to_integer(""));
  if (a.is_number() && b.is_number()) return sign(a.to_double(), b.to_double());
  if (a.as_text() != nullptr && b.as_text() != nullptr) {
    budget.charge_text(a.as_text()->size());
    return sign(*a.as_text(), *b.as_text());
  }
  if (a.as_list() != nullptr && b.as_list() != nullptr) {
    const auto &left = a.as_list()->items, &right = b.as_list()->items;
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      if (!equal(left[i], right[i], budget)) return compare(left[i], right[i], budget);
    }
    return sign(left.size(), right.size());
  }
  TW_FAIL(Format, "chat template: no order between ", a.type_name(), " and ", b.type_name());
}

namespace {

std::string join_repr(const List& list, Budget& budget) {
  std::string out = list.tuple ? "(" : "[";
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    out += str(i == 0 ? "" : ", ", to_repr(list.items[i], budget));
    budget.charge_text(out.size() / 64);
  }
  if (list.tuple && list.items.size() == 1) out += ',';
  return out + (list.tuple ? ")" : "]");
}

std::string join_repr(const Dict& dict, Budget& budget) {
  std::string out = "{";
  for (std::size_t i = 0; i < dict.items.size(); ++i) {
    const auto& [key, value] = dict.items[i];
    out += str(i == 0 ? "" : ", ", to_repr(key, budget), ": ", to_repr(value, budget));
    budget.charge_text(out.size() / 64);
  }
  return out + '}';
}

}  // namespace

std::string to_repr(const Value& value, Budget& budget) {
  budget.charge(1);
  if (value.as_text() != nullptr) {
    budget.charge_text(value.as_text()->size());
    return quote(*value.as_text());
  }
  if (value.is_undefined()) return "Undefined";
  return to_text(value, budget);
}

std::string to_text(const Value& value, Budget& budget) {
  budget.charge(1);
  if (const std::string* text = value.as_text()) return *text;
  if (value.is_undefined()) return "";
  if (value.is_none()) return "None";
  if (const auto* flag = value.get_if<bool>()) return *flag ? "True" : "False";
  if (value.is_integer()) return std::to_string(value.to_integer(""));
  if (value.is_number()) return float_text(value.to_double());
  if (value.as_list() != nullptr) return join_repr(*value.as_list(), budget);
  if (value.as_dict() != nullptr) return join_repr(*value.as_dict(), budget);
  TW_FAIL(Unsupported, "chat template: a ", value.type_name(), " as text is not supported");
}

}  // namespace tilewright::chat
