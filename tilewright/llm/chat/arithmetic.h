// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tilewright/llm/chat/value.h"

namespace tilewright::chat {

// + - * / // % ** ~ as Python has them; throws FormatError for types that do not fit, overflow
// and division by zero.
Value arithmetic(std::string_view operation, const Value& a, const Value& b, Budget& budget);
Value negate(const Value& value);
// object[start:stop:step] of a list or a text.
Value take_slice(const Value& object, std::optional<std::int64_t> start,
                 std::optional<std::int64_t> stop, std::int64_t step, Budget& budget);

}  // namespace tilewright::chat
