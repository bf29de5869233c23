// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/tokenizer/byte_alphabet.h"

#include "tilewright/llm/tokenizer/utf8.h"

namespace tilewright {
namespace {

constexpr bool is_visible(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<char32_t, 256> kAlphabet = [] {
  std::array<char32_t, 256> table{};
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) table[byte] = is_visible(byte) ? byte : next++;
  return table;
}();

constexpr int kEnd = 0x100 + 68;

constexpr std::array<int, kEnd> kBytes = [] {
  std::array<int, kEnd> table{};
  for (int& byte : table) byte = -1;
  for (int byte = 0; byte < 256; ++byte) table[kAlphabet[byte]] = byte;
  return table;
}();

}  // namespace

const std::array<char32_t, 256>& byte_alphabet() { return kAlphabet; }

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const Utf8Step step = decode_utf8(text);
    if (!step.valid || step.code >= kEnd || kBytes[step.code] < 0) return std::nullopt;
    bytes += static_cast<char>(kBytes[step.code]);
    text.remove_prefix(step.length);
  }
  return bytes;
}

std::string to_byte_alphabet(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) append_utf8(text, kAlphabet[static_cast<unsigned char>(byte)]);
  return text;
}

}  // namespace tilewright
