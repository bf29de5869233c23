// SPDX-License-Identifier: Apache-2.0
// Values of the template language, as Python has them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tilewright::chat {

class Value;
struct Statement;

// Every step of evaluation and every byte made is charged here, so that any template ends.
class Budget {
 public:
  // Throws InvalidArgument when the template has had its share.
  void charge(std::size_t units);
  // Checks a string's size and charges for it.
  void charge_text(std::size_t bytes);
  // A search may compare each place in the text with the whole of what is looked for.
  void charge_search(std::size_t text, std::size_t part) { charge(1 + text * (part + 1) / 64); }

 private:
  std::size_t left_ = 5'000'000;
};

struct Undefined {
  std::string name;  // for messages
};
struct None {};

struct List {
  std::vector<Value> items;
  bool tuple = false;
  int depth = 1;  // of nesting, bounded: destruction and comparison recurse
};
struct Dict {
  std::vector<std::pair<Value, Value>> items;  // in order of insertion
  int depth = 1;
  const Value* find(const Value& key) const;
};
// Belongs to the interpreter, never to a value: it may hold itself.
struct Namespace {
  std::vector<std::pair<std::string, Value>> items;
};
// `loop` inside a for.
struct Loop {
  std::shared_ptr<const List> items;
  std::int64_t index0 = 0;
  std::int64_t length = 0;
  int depth = 1;
};
struct Macro {
  const Statement* definition;
};
struct Builtin {
  std::string_view name;
};

class Value {
 public:
  using Data =
      std::variant<Undefined, None, bool, std::int64_t, double, std::shared_ptr<const std::string>,
                   std::shared_ptr<const List>, std::shared_ptr<const Dict>, Namespace*,
                   std::shared_ptr<const Loop>, Macro, Builtin>;
  Value() : data_(Undefined{}) {}
  Value(Data data) : data_(std::move(data)) {}
  static Value text(std::string text) {
    return Value(std::make_shared<const std::string>(std::move(text)));
  }
  static Value integer(std::int64_t number) { return Value(Data(number)); }
  static Value boolean(bool value) { return Value(Data(value)); }
  static Value number(double value) { return Value(Data(value)); }
  static Value none() { return Value(Data(None{})); }
  static Value undefined(std::string name) { return Value(Data(Undefined{std::move(name)})); }
  // Throw InvalidArgument past the nesting limit.
  static Value list(std::vector<Value> items, bool tuple = false);
  static Value dict(std::vector<std::pair<Value, Value>> items);  // later keys replace earlier

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&data_);
  }
  bool is_undefined() const { return get_if<Undefined>() != nullptr; }
  bool is_none() const { return get_if<None>() != nullptr; }
  const std::string* as_text() const;  // null when it is no string
  const List* as_list() const;
  std::shared_ptr<const List> share_list() const;
  const Dict* as_dict() const;
  Namespace* as_namespace() const;
  bool is_number() const;                                // bool counts, as in Python
  std::int64_t to_integer(std::string_view what) const;  // throws FormatError
  double to_double() const;                              // of a number
  bool is_integer() const;                               // int or bool

  bool truthy() const;
  std::string_view type_name() const;  // "str", "int" …
  int depth() const;

 private:
  Data data_;
};

bool equal(const Value& a, const Value& b, Budget& budget);
// -1, 0, 1; throws FormatError for types without an order between them.
int compare(const Value& a, const Value& b, Budget& budget);
// str() and repr().
std::string to_text(const Value& value, Budget& budget);
std::string to_repr(const Value& value, Budget& budget);

struct JsonStyle {
  bool ascii_only = false, sort_keys = false;
  int indent = -1;  // < 0: one line
  std::string item_separator = ", ", key_separator = ": ";
};
std::string to_json(const Value& value, const JsonStyle& style, Budget& budget);
// Throws FormatError.
Value from_json(std::string_view json, std::string_view what);

}  // namespace tilewright::chat
