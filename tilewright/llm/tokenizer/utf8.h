// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

inline constexpr char32_t kReplacement = 0xFFFD;

// One step of decoding. An ill-formed run (a maximal subpart, Unicode 15 section 3.9) has
// valid = false and the bytes it covers; `incomplete` says that the text ended inside what may
// still become a character.
struct Utf8Step {
  char32_t code = kReplacement;
  std::uint8_t length = 1;
  bool valid = false;
  bool incomplete = false;
};
// `text` is not empty.
Utf8Step decode_utf8(std::string_view text);

void append_utf8(std::string& out, char32_t code);

// Offset of the first ill-formed byte, or npos.
std::size_t find_invalid_utf8(std::string_view text);
// Each ill-formed run replaced by U+FFFD, as Python's bytes.decode("utf-8", "replace") does.
std::string replace_invalid_utf8(std::string_view text);
// Length without a last character that has only begun.
std::size_t complete_utf8_prefix(std::string_view text);

}  // namespace tilewright
