// SPDX-License-Identifier: Apache-2.0
// Functions that a template may call by name.
#include <ctime>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/interpreter.h"

namespace tilewright::chat {
namespace {

constexpr std::int64_t kMaxRange = 100'000;  // Jinja's own, in a sandbox

Value range(const Arguments& arguments, Budget& budget) {
  arguments.check("range", 3);
  TW_CHECK(!arguments.positional.empty(), Format, "chat template: range wants a bound");
  std::int64_t bounds[3] = {0, 0, 1};
  const std::size_t given = arguments.positional.size();
  for (std::size_t i = 0; i < given; ++i) {
    const std::int64_t value = arguments.positional[i].to_integer("a bound of range");
    TW_CHECK(value > -(std::int64_t{1} << 40) && value < std::int64_t{1} << 40, InvalidArgument,
             "chat template: range: ", value, " is out of range");
    bounds[given == 1 ? 1 : i] = value;
  }
  const auto [start, stop, step] = bounds;
  TW_CHECK(step != 0, Format, "chat template: range: the step is zero");
  std::vector<Value> items;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
    TW_CHECK(std::int64_t(items.size()) < kMaxRange, InvalidArgument,
             "chat template: a range of more than ", kMaxRange);
    items.push_back(Value::integer(i));
  }
  budget.charge(items.size());
  return Value::list(std::move(items));
}

Value format_time(const Arguments& arguments, std::int64_t now, Budget& budget) {
  arguments.check("strftime_now", 1);
  const std::string& format = need_text(arguments.get(0, "format"), "the format of strftime_now");
  budget.charge_text(format.size());
  const std::time_t seconds = now < 0 ? std::time(nullptr) : std::time_t(now);
  std::tm parts{};
  TW_CHECK(format.size() < 256 && localtime_r(&seconds, &parts) != nullptr, InvalidArgument,
           "chat template: strftime_now: the format or the time is out of range");
  char buffer[4096];
  const std::size_t size = std::strftime(buffer, sizeof(buffer), format.c_str(), &parts);
  return Value::text(std::string(buffer, size));
}

}  // namespace

Value Interpreter::make_namespace(const Arguments& arguments) {
  arguments.check("namespace", 1, [&] {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : arguments.named) names.push_back(name);
    return names;
  }());
  auto space = std::make_unique<Namespace>();
  if (!arguments.positional.empty()) {
    const Dict* dict = arguments.positional[0].as_dict();
    TW_CHECK(dict != nullptr, Format, "chat template: namespace wants a dict");
    for (const auto& [key, value] : dict->items) {
      space->items.emplace_back(need_text(key, "a key"), value);
    }
  }
  for (const auto& [name, value] : arguments.named) space->items.emplace_back(name, value);
  budget_.charge(8 + space->items.size());
  namespaces_.push_back(std::move(space));
  return Value(Value::Data(namespaces_.back().get()));
}

Value Interpreter::call_function(std::string_view name, const Arguments& arguments) {
  if (name == "range") return range(arguments, budget_);
  if (name == "namespace") return make_namespace(arguments);
  if (name == "strftime_now") return format_time(arguments, now_, budget_);
  if (name == "raise_exception") {
    arguments.check("raise_exception", 1);
    TW_FAIL(InvalidArgument, "chat template: ",
            need_text(arguments.get(0, "message"), "the message of raise_exception"));
  }
  std::vector<std::pair<Value, Value>> items;
  TW_CHECK(name == "dict" && arguments.positional.empty(), Unsupported,
           "chat template: dict of something is not supported");
  for (const auto& [key, value] : arguments.named) items.emplace_back(Value::text(key), value);
  return Value::dict(std::move(items));
}

}  // namespace tilewright::chat
