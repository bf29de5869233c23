// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/chat/text_tools.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "tilewright/base/error.h"
#include "tilewright/llm/tokenizer/utf8.h"

namespace tilewright::chat {
namespace {

std::size_t last_character_begin(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && text.size() - at < 4 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
    --at;
  }
  return at;
}

template <class Matches>
std::string_view strip_if(std::string_view text, bool left, bool right, const Matches& matches) {
  while (left && !text.empty()) {
    const Utf8Step step = decode_utf8(text);
    if (!matches(step.code)) break;
    text.remove_prefix(step.length);
  }
  while (right && !text.empty()) {
    const std::size_t begin = last_character_begin(text);
    if (!matches(decode_utf8(text.substr(begin)).code)) break;
    text = text.substr(0, begin);
  }
  return text;
}

template <class Each>
void for_each_character(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const Utf8Step step = decode_utf8(text);
    each(step.code, text.substr(0, step.length));
    text.remove_prefix(step.length);
  }
}

void append_upper(std::string& out, char32_t code) {
  if (code == 0xDF) {  // sharp s has no capital of its own here
    out += "SS";
  } else {
    append_utf8(out, char32_t(utf8proc_toupper(utf8proc_int32_t(code))));
  }
}

void append_lower(std::string& out, char32_t code) {
  append_utf8(out, char32_t(utf8proc_tolower(utf8proc_int32_t(code))));
}

bool is_letter(char32_t code) {
  const auto category = utf8proc_category(utf8proc_int32_t(code));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT;
}

bool is_printable(char32_t code) {
  if (code == ' ') return true;
  switch (utf8proc_category(utf8proc_int32_t(code))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return false;
    default: return true;
  }
}

std::string hex(const char* format, unsigned value) {
  char buffer[16];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

}  // namespace

bool is_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20) || code == 0x85 ||
         code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
         code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

std::string_view strip_left(std::string_view text) { return strip_if(text, true, false, is_space); }
std::string_view strip_right(std::string_view text) {
  return strip_if(text, false, true, is_space);
}

std::string_view strip(std::string_view text, std::string_view characters, bool left, bool right) {
  std::u32string set;
  for_each_character(characters, [&](char32_t code, std::string_view) { set += code; });
  return strip_if(text, left, right,
                  [&](char32_t code) { return set.find(code) != std::u32string::npos; });
}

std::int64_t character_count(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

std::vector<std::size_t> character_offsets(std::string_view text) {
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] & 0xC0) != 0x80) offsets.push_back(i);
  }
  offsets.push_back(text.size());
  return offsets;
}

std::string to_upper(std::string_view text) {
  std::string out;
  for_each_character(text, [&](char32_t code, std::string_view) { append_upper(out, code); });
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out;
  for_each_character(text, [&](char32_t code, std::string_view) { append_lower(out, code); });
  return out;
}

std::string capitalize(std::string_view text) {
  std::string out;
  for_each_character(text, [&](char32_t code, std::string_view) {
    out.empty() ? append_upper(out, code) : append_lower(out, code);
  });
  return out;
}

std::string title(std::string_view text) {
  std::string out;
  bool inside = false;
  for_each_character(text, [&](char32_t code, std::string_view) {
    inside ? append_lower(out, code) : append_upper(out, code);
    inside = is_letter(code);
  });
  return out;
}

std::string title_words(std::string_view text) {
  std::string out;
  bool inside = false;
  for_each_character(text, [&](char32_t code, std::string_view) {
    inside ? append_lower(out, code) : append_upper(out, code);
    inside = !is_space(code) && std::u32string_view(U"-({[<").find(code) == std::string::npos;
  });
  return out;
}

namespace {

// The digits of \x, \u or \U after `at`, which stands on the letter.
char32_t parse_hex(std::string_view literal, std::size_t& at, int line) {
  const std::size_t digits = literal[at] == 'x' ? 2 : literal[at] == 'u' ? 4 : 8;
  const std::string_view text = literal.substr(at + 1, digits);
  unsigned code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code, 16);
  TW_CHECK(text.size() == digits && error == std::errc() && end == text.data() + digits &&
               code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF),
           Format, "chat template: line ", line, ": the escape \\", literal[at], text,
           " is no character");
  at += digits;
  return code;
}

}  // namespace

std::string unescape(std::string_view literal, int line) {
  std::string out;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (literal[i] != '\\' || i + 1 == literal.size()) {
      out += literal[i];
      continue;
    }
    const char c = literal[++i];
    constexpr std::string_view kFrom = "ntrabfv\\'\"", kTo = "\n\t\r\a\b\f\v\\'\"";
    if (const std::size_t known = kFrom.find(c); known != std::string_view::npos) {
      out += kTo[known];
    } else if (c == 'x' || c == 'u' || c == 'U') {
      append_utf8(out, parse_hex(literal, i, line));
    } else if (c >= '0' && c <= '7') {
      unsigned code = 0;
      const std::string_view text = literal.substr(i, 3);
      const auto end = std::from_chars(text.data(), text.data() + text.size(), code, 8).ptr;
      i += std::size_t(end - text.data()) - 1;
      append_utf8(out, code);
    } else if (c == 'N') {
      TW_FAIL(Unsupported, "chat template: line ", line, ": the escape \\N is not supported");
    } else if (c != '\n') {
      out += '\\';
      out += c;
    }
  }
  return out;
}

std::string quote(std::string_view text) {
  const bool single =
      text.find('\'') == std::string_view::npos || text.find('"') != std::string_view::npos;
  const char mark = single ? '\'' : '"';
  std::string out(1, mark);
  for_each_character(text, [&](char32_t code, std::string_view bytes) {
    if (code == '\n')
      out += "\\n";
    else if (code == '\r')
      out += "\\r";
    else if (code == '\t')
      out += "\\t";
    else if (code == '\\' || code == char32_t(mark))
      (out += '\\') += char(code);
    else if (is_printable(code))
      out += bytes;
    else if (code < 0x100)
      out += hex("\\x%02x", code);
    else if (code < 0x10000)
      out += hex("\\u%04x", code);
    else
      out += hex("\\U%08x", code);
  });
  return out + mark;
}

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const double size = std::abs(value);
  // Python's repr() turns to an exponent outside [1e-4, 1e16).
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto form = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, form).ptr;
  std::string text(buffer, end);
  if (plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string json_quote(std::string_view text, bool ascii_only) {
  std::string out = "\"";
  for_each_character(text, [&](char32_t code, std::string_view bytes) {
    constexpr std::string_view kFrom = "\n\r\t\b\f\"\\", kTo = "nrtbf\"\\";
    const std::size_t known = code < 0x80 ? kFrom.find(char(code)) : std::string_view::npos;
    if (known != std::string_view::npos) {
      (out += '\\') += kTo[known];
    } else if (code < 0x20 || (ascii_only && code > 0x7E && code < 0x10000)) {
      out += hex("\\u%04x", code);
    } else if (ascii_only && code >= 0x10000) {
      out += hex("\\u%04x", 0xD800 + ((code - 0x10000) >> 10));
      out += hex("\\u%04x", 0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
      out += bytes;
    }
  });
  return out + '"';
}

}  // namespace tilewright::chat
