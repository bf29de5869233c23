// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/tokenizer/added_tokens.h"

#include <algorithm>

#include "tilewright/base/text.h"

namespace tilewright {
namespace {

constexpr const char* kWord = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}]";

// The last character of a text that is not empty.
std::string_view last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return text.substr(at);
}

std::string_view first_character(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return text.substr(0, end);
}

bool matches(const Regex& regex, std::string_view character) {
  bool found = false;
  regex.for_each(character, [&](std::size_t, std::size_t) { found = true; });
  return found;
}

std::size_t white_space_before(std::string_view text, const Regex& space) {
  std::size_t count = 0;
  while (count < text.size()) {
    const std::string_view last = last_character(text.substr(0, text.size() - count));
    if (!matches(space, last)) break;
    count += last.size();
  }
  return count;
}

std::size_t white_space_after(std::string_view text, const Regex& space) {
  std::size_t count = 0;
  while (count < text.size()) {
    const std::string_view first = first_character(text.substr(count));
    if (!matches(space, first)) break;
    count += first.size();
  }
  return count;
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens,
                                     const std::vector<std::string>& contents)
    : tokens_(std::move(tokens)),
      ends_(1, -1),
      word_(kWord, "added tokens"),
      space_(str('[', kWhiteSpaceClass, ']'), "added tokens") {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::string& content = contents[i];
    if (content.empty()) continue;
    std::uint32_t node = 0;
    for (const char c : content) {
      const auto byte = static_cast<unsigned char>(c);
      const auto [edge, added] =
          edges_.try_emplace(std::uint64_t{node} << 8 | byte, std::uint32_t(ends_.size()));
      if (added) ends_.push_back(-1);
      node = edge->second;
    }
    ends_[node] = std::int32_t(i);
    starts_[static_cast<unsigned char>(content.front())] = true;
  }
}

AddedTokenMatcher::Found AddedTokenMatcher::longest_at(std::string_view text) const {
  Found best;
  std::uint32_t node = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto edge = edges_.find(std::uint64_t{node} << 8 | static_cast<unsigned char>(text[i]));
    if (edge == edges_.end()) break;
    node = edge->second;
    if (ends_[node] >= 0) best = {i + 1, ends_[node]};
  }
  return best;
}

bool AddedTokenMatcher::stands_alone(std::string_view text, std::size_t begin,
                                     std::size_t end) const {
  const bool left = begin > 0 && matches(word_, last_character(text.substr(0, begin)));
  const bool right = end < text.size() && matches(word_, first_character(text.substr(end)));
  return !left && !right;
}

void AddedTokenMatcher::split(std::string_view text, bool parse_special,
                              const std::function<void(std::string_view)>& text_part,
                              const std::function<void(std::int32_t)>& token) const {
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const bool possible = starts_[static_cast<unsigned char>(text[at])];
    const Found found = possible ? longest_at(text.substr(at)) : Found{};
    if (found.token < 0) {
      ++at;
      continue;
    }
    const AddedToken& added = tokens_[std::size_t(found.token)];
    std::size_t begin = at, end = at + found.length;
    at = end;
    if (added.special && !parse_special) continue;
    if (added.single_word && !stands_alone(text, begin, end)) continue;
    // White space that a token to the left took is not taken again.
    begin = std::max(begin, done);
    if (added.lstrip) {
      begin -= white_space_before(text.substr(done, begin - done), space_);
    }
    if (added.rstrip) end += white_space_after(text.substr(end), space_);
    if (done < begin) text_part(text.substr(done, begin - done));
    token(added.id);
    done = std::max(done, end);
  }
  if (done < text.size()) text_part(text.substr(done));
}

}  // namespace tilewright
