// SPDX-License-Identifier: Apache-2.0
// The printable alphabet in which byte-level BPE files write bytes: a byte that is a visible
// Latin-1 character stands for itself, the other 68 are U+0100 and up. Source: GPT-2.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

const std::array<char32_t, 256>& byte_alphabet();
// The bytes that `text` writes; empty when a character is outside the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view text);
std::string to_byte_alphabet(std::string_view bytes);

}  // namespace tilewright
