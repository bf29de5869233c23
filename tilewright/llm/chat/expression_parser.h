// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/llm/chat/ast.h"
#include "tilewright/llm/chat/token_stream.h"

namespace tilewright::chat {

// An expression; with `tuples`, a, b without parentheses is a tuple. With `conditional` off, `if`
// ends it: the sequence of a for.
ExpressionPtr parse_expression(TokenStream& in, bool tuples = false, bool conditional = true);

}  // namespace tilewright::chat
