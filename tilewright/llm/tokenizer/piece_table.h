// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tilewright/llm/tokenizer/tokenizer_spec.h"

namespace tilewright {

// The raw bytes of every token, and the way back.
class PieceTable {
 public:
  // Throws FormatError for an added token whose id is out of range.
  explicit PieceTable(const TokenizerSpec& spec);
  PieceTable(const PieceTable&) = delete;
  PieceTable& operator=(const PieceTable&) = delete;

  std::int64_t size() const { return std::int64_t(offsets_.size()) - 1; }
  bool contains(std::int64_t id) const { return id >= 0 && id < size(); }
  std::string_view bytes(std::int32_t id) const {
    const auto i = std::size_t(id);
    return std::string_view(text_).substr(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }
  bool is_special(std::int32_t id) const { return special_[std::size_t(id)]; }
  // -1 when there is none.
  std::int32_t find(std::string_view bytes) const;

 private:
  std::string text_;
  std::vector<std::size_t> offsets_;
  std::vector<bool> special_;
  std::unordered_map<std::string_view, std::int32_t> ids_;
};

}  // namespace tilewright
