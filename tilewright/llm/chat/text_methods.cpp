// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/chat/text_methods.h"

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/builtins.h"
#include "tilewright/llm/chat/text_tools.h"
#include "tilewright/llm/tokenizer/utf8.h"

namespace tilewright::chat {
namespace {

Value make(std::string_view text) { return Value::text(std::string(text)); }

}  // namespace

std::string replace_all(std::string_view text, std::string_view from, std::string_view to,
                        std::int64_t limit, Budget& budget) {
  budget.charge_search(text.size(), from.size());
  std::string out;
  const auto put = [&](std::string_view part) {
    out += part;
    budget.charge_text(part.size());
    TW_CHECK(out.size() <= std::size_t{64} << 20, InvalidArgument,
             "chat template: replace makes too long a text");
  };
  while (limit != 0) {
    // An empty text is found before each character and at the end.
    const std::size_t found = text.find(from);
    if (found == std::string_view::npos) break;
    put(text.substr(0, found));
    put(to);
    text.remove_prefix(found + from.size());
    --limit;
    if (!from.empty()) continue;
    if (text.empty()) return out;
    const std::size_t step = decode_utf8(text).length;
    put(text.substr(0, step));
    text.remove_prefix(step);
  }
  put(text);
  return out;
}

std::vector<Value> split_at(std::string_view text, std::string_view separator, std::int64_t limit,
                            bool from_right, Budget& budget) {
  TW_CHECK(!separator.empty(), Format, "chat template: split: the separator is empty");
  budget.charge_search(text.size(), separator.size());
  std::vector<Value> parts;
  for (; limit != 0; --limit) {
    const std::size_t found = from_right ? text.rfind(separator) : text.find(separator);
    if (found == std::string_view::npos) break;
    const std::string_view after = text.substr(found + separator.size());
    budget.charge(1);
    parts.push_back(make(from_right ? after : text.substr(0, found)));
    text = from_right ? text.substr(0, found) : after;
  }
  parts.push_back(make(text));
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Value> split_words(std::string_view text, std::int64_t limit, bool from_right,
                               Budget& budget) {
  budget.charge_text(text.size());
  std::vector<Value> parts;
  // Without a limit the direction does not matter.
  TW_CHECK(!from_right || limit < 0, Unsupported,
           "chat template: rsplit at white space with a limit is not supported");
  while (!(text = strip_left(text)).empty()) {
    budget.charge(1);
    if (limit-- == 0) {
      parts.push_back(make(text));
      break;
    }
    std::size_t end = 0;
    while (end < text.size()) {
      const Utf8Step step = decode_utf8(text.substr(end));
      if (is_space(step.code)) break;
      end += step.length;
    }
    parts.push_back(make(text.substr(0, end)));
    text.remove_prefix(end);
  }
  return parts;
}

std::vector<Value> split_lines(std::string_view text, Budget& budget) {
  budget.charge_text(text.size());
  std::vector<Value> lines;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Step step = decode_utf8(text.substr(i));
    const char32_t c = step.code;
    const bool ends = (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 ||
                      c == 0x2028 || c == 0x2029;
    const std::size_t end = i;
    i += step.length;
    if (!ends) continue;
    if (c == '\r' && i < text.size() && text[i] == '\n') ++i;
    budget.charge(1);
    lines.push_back(make(text.substr(begin, end - begin)));
    begin = i;
  }
  if (begin < text.size()) lines.push_back(make(text.substr(begin)));
  return lines;
}

std::string join_texts(std::string_view separator, const std::vector<Value>& items, bool convert,
                       Budget& budget) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += separator;
    const std::string part =
        convert ? to_text(items[i], budget) : need_text(items[i], "an item to join");
    budget.charge_text(separator.size() + part.size());
    out += part;
    TW_CHECK(out.size() <= std::size_t{64} << 20, InvalidArgument,
             "chat template: join makes too long a text");
  }
  return out;
}

}  // namespace tilewright::chat
