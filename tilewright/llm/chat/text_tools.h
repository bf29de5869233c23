// SPDX-License-Identifier: Apache-2.0
// Python's view of text: characters are code points, white space is Unicode's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::chat {

// White space as Python's str.isspace() says.
bool is_space(char32_t code);
std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);
inline std::string_view strip(std::string_view text) { return strip_left(strip_right(text)); }
// With `characters`, any of which are stripped.
std::string_view strip(std::string_view text, std::string_view characters, bool left, bool right);

std::int64_t character_count(std::string_view text);
// Where each character begins, and the end of the text.
std::vector<std::size_t> character_offsets(std::string_view text);

std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
std::string capitalize(std::string_view text);  // first character up, the rest down
std::string title(std::string_view text);       // str.title()
// Jinja's title filter: only white space and - ( { [ < begin a word.
std::string title_words(std::string_view text);

// Resolves Python's escapes in a string literal; throws FormatError with the line.
std::string unescape(std::string_view literal, int line);
// repr() of a string, and of a float.
std::string quote(std::string_view text);
std::string float_text(double value);
std::string json_quote(std::string_view text, bool ascii_only);

}  // namespace tilewright::chat
