// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/tokenizer/utf8.h"

#include <algorithm>

namespace tilewright {
namespace {

// Well-formed sequences by first byte: table 3-7 of the Unicode standard. Only the second byte's
// range varies; it excludes overlong forms, surrogates and what lies past U+10FFFF.
struct Lead {
  std::uint8_t length = 0;  // 0: no first byte
  std::uint8_t low = 0x80, high = 0xBF;
};

Lead classify(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

}  // namespace

Utf8Step decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const Lead lead = classify(byte(0));
  if (lead.length == 1) return {byte(0), 1, true, false};
  if (lead.length == 0) return {};
  char32_t code = byte(0) & (0x7FU >> lead.length);
  for (std::uint8_t i = 1; i < lead.length; ++i) {
    if (i == text.size()) return {kReplacement, i, false, true};
    const unsigned char low = i == 1 ? lead.low : 0x80, high = i == 1 ? lead.high : 0xBF;
    if (byte(i) < low || byte(i) > high) return {kReplacement, i, false, false};
    code = code << 6 | (byte(i) & 0x3FU);
  }
  return {code, lead.length, true, false};
}

void append_utf8(std::string& out, char32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int tail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLead[tail] | code >> (6 * tail));
  for (int i = tail - 1; i >= 0; --i) out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
}

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = decode_utf8(text.substr(at));
    if (!step.valid) return at;
    at += step.length;
  }
  return std::string_view::npos;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t good = std::min(find_invalid_utf8(text), text.size());
    out.append(text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty()) break;
    append_utf8(out, kReplacement);
    text.remove_prefix(decode_utf8(text).length);
  }
  return out;
}

std::size_t complete_utf8_prefix(std::string_view text) {
  // A character that has begun shows within the last three bytes.
  const std::size_t first = text.size() - std::min<std::size_t>(3, text.size());
  for (std::size_t at = first; at < text.size(); ++at) {
    if (decode_utf8(text.substr(at)).incomplete) return at;
  }
  return text.size();
}

}  // namespace tilewright
