// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/tokenizer/piece_table.h"

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/llm/tokenizer/byte_alphabet.h"

namespace tilewright {

PieceTable::PieceTable(const TokenizerSpec& spec) {
  std::size_t count = spec.tokens.size();
  for (const AddedToken& added : spec.added) {
    // Generous: holes are allowed, a wild id is not.
    TW_CHECK(added.id >= 0 && std::size_t(added.id) <= 2 * spec.tokens.size() + 65536, Format,
             spec.location, ": added token '", added.content, "': id ", added.id,
             " is out of range of a vocabulary of ", spec.tokens.size());
    count = std::max(count, std::size_t(added.id) + 1);
  }
  std::vector<const AddedToken*> added_by_id(count, nullptr);
  special_.assign(count, false);
  for (const AddedToken& added : spec.added) {
    added_by_id[std::size_t(added.id)] = &added;
    special_[std::size_t(added.id)] = added.special;
  }
  offsets_.push_back(0);
  for (std::size_t i = 0; i < count; ++i) {
    if (added_by_id[i] != nullptr) {
      text_ += added_by_id[i]->content;
    } else if (i < spec.tokens.size()) {
      text_ += from_byte_alphabet(spec.tokens[i]).value_or(spec.tokens[i]);
    }
    offsets_.push_back(text_.size());
  }
  ids_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = std::int32_t(i);
    if (bytes(id).empty()) continue;
    const auto [place, fresh] = ids_.try_emplace(bytes(id), id);
    if (!fresh && added_by_id[i] != nullptr) place->second = id;
  }
}

std::int32_t PieceTable::find(std::string_view bytes) const {
  const auto found = ids_.find(bytes);
  return found == ids_.end() ? -1 : found->second;
}

}  // namespace tilewright
