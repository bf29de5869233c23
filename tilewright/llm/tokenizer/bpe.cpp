// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/tokenizer/bpe.h"

#include <queue>

#include "tilewright/base/error.h"
#include "tilewright/llm/tokenizer/byte_alphabet.h"

namespace tilewright {
namespace {

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return std::uint64_t(std::uint32_t(left)) << 32 | std::uint32_t(right);
}

}  // namespace

Bpe::Bpe(const TokenizerSpec& spec)
    : unknown_(spec.unknown.value_or(-1)), fuse_unknown_(spec.fuse_unknown) {
  byte_ids_.fill(-1);
  std::unordered_map<std::string_view, std::int32_t> ids;
  ids.reserve(spec.tokens.size());
  for (std::size_t i = 0; i < spec.tokens.size(); ++i) {
    const std::string& token = spec.tokens[i];
    if (token.empty()) continue;
    const auto id = std::int32_t(i);
    ids.insert_or_assign(token, id);
    const bool needed = spec.ignore_merges || token.size() <= 2;
    const auto bytes = needed ? from_byte_alphabet(token) : std::nullopt;
    if (!bytes) continue;
    if (bytes->size() == 1) byte_ids_[static_cast<unsigned char>(bytes->front())] = id;
    if (spec.ignore_merges) whole_.insert_or_assign(*bytes, id);
  }
  add_merges(spec, ids);
}

void Bpe::add_merges(const TokenizerSpec& spec,
                     const std::unordered_map<std::string_view, std::int32_t>& ids) {
  std::string joined;
  const auto id_of = [&](std::string_view token, std::size_t rank) {
    const auto found = ids.find(token);
    TW_CHECK(found != ids.end(), Format, spec.location, ": merge ", rank, " ('",
             spec.merges[rank].first, "' '", spec.merges[rank].second, "'): '", token,
             "' is not in the vocabulary");
    return found->second;
  };
  merges_.reserve(spec.merges.size());
  for (std::size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const auto& [left, right] = spec.merges[rank];
    joined.assign(left).append(right);
    const std::uint64_t key = pair_key(id_of(left, rank), id_of(right, rank));
    merges_.insert_or_assign(key, Merge{std::int32_t(rank), id_of(joined, rank)});
  }
}

const Bpe::Merge* Bpe::find(std::int32_t left, std::int32_t right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

std::vector<Bpe::Symbol> Bpe::split(std::string_view piece) const {
  std::vector<Symbol> symbols;
  symbols.reserve(piece.size());
  bool after_unknown = false;
  for (const char c : piece) {
    std::int32_t id = byte_ids_[static_cast<unsigned char>(c)];
    const bool is_unknown = id < 0;
    if (is_unknown) id = unknown_;
    if (id >= 0 && !(is_unknown && after_unknown && fuse_unknown_)) {
      const auto at = std::int32_t(symbols.size());
      symbols.push_back({id, at - 1, at + 1});
    }
    after_unknown = is_unknown;
  }
  if (!symbols.empty()) symbols.back().next = -1;
  return symbols;
}

void Bpe::join(std::vector<Symbol>& symbols) const {
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
  };
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(later)> queue(later);
  const auto offer = [&](std::int32_t at) {
    if (at < 0 || symbols[std::size_t(at)].next < 0) return;
    const std::int32_t left = symbols[std::size_t(at)].id;
    const std::int32_t right = symbols[std::size_t(symbols[std::size_t(at)].next)].id;
    if (const Merge* merge = find(left, right)) {
      queue.push({merge->rank, at, left, right, merge->id});
    }
  };
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) offer(std::int32_t(i));
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbols[std::size_t(best.at)];
    // An earlier merge may have taken either part away.
    if (left.id != best.left || left.next < 0) continue;
    Symbol& right = symbols[std::size_t(left.next)];
    if (right.id != best.right) continue;
    left.id = best.id;
    right.id = -1;
    left.next = right.next;
    if (left.next >= 0) symbols[std::size_t(left.next)].previous = best.at;
    offer(left.previous);
    offer(best.at);
  }
}

void Bpe::encode(std::string_view piece, std::vector<std::int32_t>& ids) const {
  if (!whole_.empty()) {
    if (const auto found = whole_.find(std::string(piece)); found != whole_.end()) {
      ids.push_back(found->second);
      return;
    }
  }
  std::vector<Symbol> symbols = split(piece);
  join(symbols);
  for (const Symbol& symbol : symbols) {
    if (symbol.id >= 0) ids.push_back(symbol.id);
  }
}

}  // namespace tilewright
