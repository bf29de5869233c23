// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/chat/arithmetic.h"

#include <algorithm>
#include <cmath>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/builtins.h"
#include "tilewright/llm/chat/text_tools.h"

namespace tilewright::chat {
namespace {

[[noreturn]] void overflow() { TW_FAIL(Format, "chat template: an integer is out of range"); }

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  if (base == 0 || base == 1 || base == -1) {
    return exponent == 0 ? 1 : base == -1 && exponent % 2 == 0 ? 1 : base;
  }
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) overflow();
  }
  return result;
}

// Rounds down, as Python does.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == -1 && a == INT64_MIN) overflow();
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Value integers(std::string_view operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool wrapped = false;
  switch (operation.front()) {
    case '+': wrapped = __builtin_add_overflow(a, b, &result); break;
    case '-': wrapped = __builtin_sub_overflow(a, b, &result); break;
    case '*':
      if (operation == "**") return Value::integer(power(a, b));
      wrapped = __builtin_mul_overflow(a, b, &result);
      break;
    case '/': result = floor_divide(a, b); break;
    default: result = b == -1 ? 0 : a - b * floor_divide(a, b); break;
  }
  if (wrapped) overflow();
  return Value::integer(result);
}

Value doubles(std::string_view operation, double a, double b) {
  if (operation == "+") return Value::number(a + b);
  if (operation == "-") return Value::number(a - b);
  if (operation == "*") return Value::number(a * b);
  if (operation == "/") return Value::number(a / b);
  if (operation == "//") return Value::number(std::floor(a / b));
  if (operation == "**") return Value::number(std::pow(a, b));
  const double rest = std::fmod(a, b);
  return Value::number(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

Value numbers(std::string_view operation, const Value& a, const Value& b) {
  const bool divides = operation == "/" || operation == "//" || operation == "%";
  TW_CHECK(!divides || b.to_double() != 0, Format, "chat template: division by zero");
  const bool whole = a.is_integer() && b.is_integer() && operation != "/" &&
                     !(operation == "**" && b.to_integer("") < 0);
  if (whole) return integers(operation, a.to_integer(""), b.to_integer(""));
  return doubles(operation, a.to_double(), b.to_double());
}

Value repeat(const Value& value, std::int64_t count, Budget& budget) {
  count = std::max<std::int64_t>(count, 0);
  const std::int64_t unit = value.as_text() != nullptr
                                ? std::int64_t(value.as_text()->size())
                                : std::int64_t(value.as_list()->items.size());
  std::int64_t size = 0;
  TW_CHECK(!__builtin_mul_overflow(unit, count, &size) && size <= 1 << 24, InvalidArgument,
           "chat template: a repetition is too long");
  if (const std::string* text = value.as_text()) {
    budget.charge_text(std::size_t(size));
    std::string result;
    if (unit > 0)
      for (std::int64_t i = 0; i < count; ++i) result += *text;
    return Value::text(std::move(result));
  }
  budget.charge(std::size_t(size));
  std::vector<Value> items;
  const auto& source = value.as_list()->items;
  if (unit > 0)
    for (std::int64_t i = 0; i < count; ++i)
      items.insert(items.end(), source.begin(), source.end());
  return Value::list(std::move(items), value.as_list()->tuple);
}

Value concatenate(const Value& a, const Value& b, Budget& budget) {
  if (a.as_text() != nullptr) {
    budget.charge_text(a.as_text()->size() + b.as_text()->size());
    return Value::text(*a.as_text() + *b.as_text());
  }
  std::vector<Value> items = a.as_list()->items;
  items.insert(items.end(), b.as_list()->items.begin(), b.as_list()->items.end());
  budget.charge(items.size());
  return Value::list(std::move(items), a.as_list()->tuple);
}

bool is_sequence(const Value& value) {
  return value.as_text() != nullptr || value.as_list() != nullptr;
}

bool same_sequence(const Value& a, const Value& b) {
  if (a.as_text() != nullptr) return b.as_text() != nullptr;
  return a.as_list() != nullptr && b.as_list() != nullptr &&
         a.as_list()->tuple == b.as_list()->tuple;
}

}  // namespace

Value arithmetic(std::string_view operation, const Value& a, const Value& b, Budget& budget) {
  if (operation == "~") {
    std::string text = to_text(a, budget);
    text += to_text(b, budget);
    budget.charge_text(text.size());
    return Value::text(std::move(text));
  }
  if (a.is_number() && b.is_number()) return numbers(operation, a, b);
  if (operation == "+" && same_sequence(a, b)) return concatenate(a, b, budget);
  if (operation == "*" && is_sequence(a) && b.is_integer()) {
    return repeat(a, b.to_integer(""), budget);
  }
  if (operation == "*" && a.is_integer() && is_sequence(b)) {
    return repeat(b, a.to_integer(""), budget);
  }
  for (const Value* side : {&a, &b}) {
    const auto* missing = side->get_if<Undefined>();
    TW_CHECK(missing == nullptr, Format, "chat template: '", missing->name, "' is undefined");
  }
  TW_CHECK(operation != "%" || a.as_text() == nullptr, Unsupported,
           "chat template: formatting with % is not supported");
  TW_FAIL(Format, "chat template: ", a.type_name(), " ", operation, " ", b.type_name(),
          " is not possible");
}

Value negate(const Value& value) {
  if (!value.is_integer()) {
    TW_CHECK(value.is_number(), Format, "chat template: - of a ", value.type_name());
    return Value::number(-value.to_double());
  }
  return integers("-", 0, value.to_integer(""));
}

Value take_slice(const Value& object, std::optional<std::int64_t> start,
                 std::optional<std::int64_t> stop, std::int64_t step, Budget& budget) {
  TW_CHECK(is_sequence(object), Format, "chat template: a slice of a ", object.type_name());
  TW_CHECK(step != 0 && step > INT64_MIN / 2 && step < INT64_MAX / 2, Format,
           "chat template: a slice with step ", step);
  const std::int64_t count = length(object);
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? count : count - 1;
  const auto bound = [&](std::optional<std::int64_t> given, std::int64_t missing) {
    if (!given) return missing;
    return std::clamp(*given < 0 ? *given + count : *given, low, high);
  };
  const std::int64_t begin = bound(start, step > 0 ? low : high);
  const std::int64_t end = bound(stop, step > 0 ? high : low);
  budget.charge(std::size_t(count));
  const std::vector<Value> all =
      object.as_list() != nullptr ? std::vector<Value>() : iterate(object, budget);
  const std::vector<Value>& items = object.as_list() != nullptr ? object.as_list()->items : all;
  std::vector<Value> taken;
  for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += step) {
    taken.push_back(items[std::size_t(i)]);
  }
  if (const List* list = object.as_list()) return Value::list(std::move(taken), list->tuple);
  std::string text;
  for (const Value& character : taken) text += *character.as_text();
  return Value::text(std::move(text));
}

}  // namespace tilewright::chat
