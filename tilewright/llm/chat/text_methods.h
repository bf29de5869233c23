// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/llm/chat/value.h"

namespace tilewright::chat {

// str.replace, str.split with and without a separator (limit < 0: none), str.splitlines.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to,
                        std::int64_t limit, Budget& budget);
std::vector<Value> split_at(std::string_view text, std::string_view separator, std::int64_t limit,
                            bool from_right, Budget& budget);
std::vector<Value> split_words(std::string_view text, std::int64_t limit, bool from_right,
                               Budget& budget);
std::vector<Value> split_lines(std::string_view text, Budget& budget);
std::string join_texts(std::string_view separator, const std::vector<Value>& items, bool convert,
                       Budget& budget);

}  // namespace tilewright::chat
