// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tilewright/llm/tokenizer/regex.h"
#include "tilewright/llm/tokenizer/tokenizer_spec.h"

namespace tilewright {

// Finds added tokens in a text: the leftmost, and of those at one place the longest.
class AddedTokenMatcher {
 public:
  // `contents[i]` is what to look for to find `tokens[i]`.
  AddedTokenMatcher(std::vector<AddedToken> tokens, const std::vector<std::string>& contents);

  // Calls `text_part` or `token` for each part in order. With `parse_special` off the special
  // ones are plain text.
  void split(std::string_view text, bool parse_special,
             const std::function<void(std::string_view)>& text_part,
             const std::function<void(std::int32_t)>& token) const;

 private:
  struct Found {
    std::size_t length = 0;
    std::int32_t token = -1;  // index into tokens_
  };
  Found longest_at(std::string_view text) const;
  bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<std::uint64_t, std::uint32_t> edges_;  // node << 8 | byte -> node
  std::vector<std::int32_t> ends_;                          // by node: a token or -1
  std::array<bool, 256> starts_{};
  Regex word_, space_;
};

}  // namespace tilewright
