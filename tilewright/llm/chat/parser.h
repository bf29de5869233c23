// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "tilewright/llm/chat/ast.h"

namespace tilewright::chat {

// Throws FormatError for a syntax error, Unsupported naming a statement, filter, test or method
// that is not implemented, each with its line. Nesting is bounded.
Block parse_template(std::string_view source);

}  // namespace tilewright::chat
