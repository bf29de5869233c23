// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewright::chat {

struct Token {
  enum class Type {
    kText,
    kOutputBegin,
    kOutputEnd,
    kBlockBegin,
    kBlockEnd,
    kName,
    kInteger,
    kFloat,
    kString,
    kOperator,
    kEnd,
  };
  Type type = Type::kEnd;
  std::string text;  // a string without quotes, its escapes resolved
  int line = 1;
};

// Cuts a template into tokens; text is given as it is to be written, white space control and
// Hugging Face's trim_blocks and lstrip_blocks done. The last token is kEnd.
// Throws FormatError with the line.
std::vector<Token> tokenize(std::string_view source);

}  // namespace tilewright::chat
