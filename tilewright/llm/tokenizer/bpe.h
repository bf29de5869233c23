// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tilewright/llm/tokenizer/tokenizer_spec.h"

namespace tilewright {

// Byte-pair merging over raw bytes. The best-ranked pair is joined first, the leftmost of equals;
// a heap keeps that at n log n for a piece of n bytes.
class Bpe {
 public:
  // Throws FormatError for a merge whose parts or result are no tokens.
  explicit Bpe(const TokenizerSpec& spec);
  // Appends the ids of one piece.
  void encode(std::string_view piece, std::vector<std::int32_t>& ids) const;

 private:
  struct Merge {
    std::int32_t rank, id;
  };
  struct Symbol {
    std::int32_t id, previous, next;
  };
  struct Candidate {
    std::int32_t rank, at, left, right, id;
  };

  void add_merges(const TokenizerSpec& spec,
                  const std::unordered_map<std::string_view, std::int32_t>& ids);
  std::vector<Symbol> split(std::string_view piece) const;
  const Merge* find(std::int32_t left, std::int32_t right) const;
  void join(std::vector<Symbol>& symbols) const;

  std::array<std::int32_t, 256> byte_ids_;
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::unordered_map<std::string, std::int32_t> whole_;  // only with ignore_merges
  std::int32_t unknown_ = -1;
  bool fuse_unknown_ = false;
};

}  // namespace tilewright
