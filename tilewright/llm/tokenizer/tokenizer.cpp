// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/tokenizer/tokenizer.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "tilewright/base/error.h"
#include "tilewright/llm/tokenizer/added_tokens.h"
#include "tilewright/llm/tokenizer/bpe.h"
#include "tilewright/llm/tokenizer/normalize.h"
#include "tilewright/llm/tokenizer/piece_table.h"
#include "tilewright/llm/tokenizer/pre_tokenizer.h"
#include "tilewright/llm/tokenizer/tokenizer_spec.h"
#include "tilewright/llm/tokenizer/utf8.h"

namespace tilewright {
namespace {

using Ids = std::vector<std::int32_t>;

// Words repeat, so their merges are kept; bounded in words and in bytes a word.
class WordCache {
 public:
  static constexpr std::size_t kMaxWords = 16384, kMaxBytes = 64;

  bool append(const std::string& word, Ids& ids) const {
    const std::lock_guard lock(mutex_);
    const auto found = words_.find(word);
    if (found == words_.end()) return false;
    ids.insert(ids.end(), found->second.begin(), found->second.end());
    return true;
  }
  void store(std::string word, Ids ids) {
    const std::lock_guard lock(mutex_);
    if (words_.size() < kMaxWords) words_.try_emplace(std::move(word), std::move(ids));
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Ids> words_;
};

AddedTokenMatcher make_matcher(const TokenizerSpec& spec, bool normalized) {
  std::vector<AddedToken> tokens;
  std::vector<std::string> contents;
  for (const AddedToken& added : spec.added) {
    if (added.normalized != normalized) continue;
    std::string content = replace_invalid_utf8(added.content);
    if (normalized) {
      for (const Normalization form : spec.normalizers) content = normalize(content, form);
    }
    tokens.push_back(added);
    contents.push_back(std::move(content));
  }
  return AddedTokenMatcher(std::move(tokens), contents);
}

void check_id(const std::optional<std::int32_t>& id, const PieceTable& pieces,
              std::string_view what, std::string_view where) {
  TW_CHECK(!id || pieces.contains(*id), Format, where, ": ", what, " token ", id.value_or(0),
           " is outside the vocabulary of ", pieces.size());
}

}  // namespace

struct Tokenizer::State {
  explicit State(const TokenizerSpec& spec)
      : pieces(spec),
        bpe(spec),
        pre_tokenizer(spec.pre_tokenizer, spec.location),
        raw_added(make_matcher(spec, false)),
        normalized_added(make_matcher(spec, true)),
        normalizers(spec.normalizers),
        prefix(spec.prefix),
        suffix(spec.suffix),
        bos(spec.bos),
        eos(spec.eos) {
    check_id(bos, pieces, "bos", spec.location);
    check_id(eos, pieces, "eos", spec.location);
    check_id(spec.unknown, pieces, "unknown", spec.location);
    for (const std::int32_t id : prefix) check_id(id, pieces, "template", spec.location);
    for (const std::int32_t id : suffix) check_id(id, pieces, "template", spec.location);
  }

  void encode_word(std::string_view word, Ids& ids) const {
    if (word.size() > WordCache::kMaxBytes) return bpe.encode(word, ids);
    std::string key(word);
    if (cache.append(key, ids)) return;
    Ids fresh;
    bpe.encode(word, fresh);
    ids.insert(ids.end(), fresh.begin(), fresh.end());
    cache.store(std::move(key), std::move(fresh));
  }

  void encode_segment(std::string_view segment, bool parse_special, Ids& ids) const {
    std::string text(segment);
    for (const Normalization form : normalizers) text = normalize(text, form);
    normalized_added.split(
        text, parse_special,
        [&](std::string_view part) {
          pre_tokenizer.run(part, [&](std::string_view word) { encode_word(word, ids); });
        },
        [&](std::int32_t id) { ids.push_back(id); });
  }

  PieceTable pieces;
  Bpe bpe;
  PreTokenizer pre_tokenizer;
  AddedTokenMatcher raw_added, normalized_added;
  std::vector<Normalization> normalizers;
  Ids prefix, suffix;
  std::optional<std::int32_t> bos, eos;
  mutable WordCache cache;
};

Tokenizer::Tokenizer(TokenizerSpec spec) : state_(std::make_unique<State>(spec)) {}
Tokenizer::~Tokenizer() = default;

std::vector<std::int32_t> Tokenizer::encode(std::string_view text,
                                            const EncodeOptions& options) const {
  std::string repaired;
  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
    TW_CHECK(!options.reject_invalid_utf8, InvalidArgument, "text: invalid UTF-8 at byte ", bad,
             "; give the text as UTF-8");
    repaired = replace_invalid_utf8(text);
    text = repaired;
  }
  Ids ids;
  if (options.add_special) ids = state_->prefix;
  state_->raw_added.split(
      text, options.parse_special,
      [&](std::string_view part) { state_->encode_segment(part, options.parse_special, ids); },
      [&](std::int32_t id) { ids.push_back(id); });
  if (options.add_special) ids.insert(ids.end(), state_->suffix.begin(), state_->suffix.end());
  return ids;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
  std::string bytes;
  for (const std::int32_t id : ids) {
    const std::string_view text = piece(id);
    if (!skip_special || !is_special(id)) bytes += text;
  }
  return replace_invalid_utf8(bytes);
}

std::int64_t Tokenizer::vocab_size() const { return state_->pieces.size(); }

std::string_view Tokenizer::piece(std::int32_t id) const {
  TW_CHECK(state_->pieces.contains(id), InvalidArgument, "token ", id,
           " is outside the vocabulary of ", vocab_size());
  return state_->pieces.bytes(id);
}

bool Tokenizer::is_special(std::int32_t id) const {
  return state_->pieces.contains(id) && state_->pieces.is_special(id);
}

std::optional<std::int32_t> Tokenizer::find(std::string_view piece) const {
  const std::int32_t id = state_->pieces.find(piece);
  return id < 0 ? std::nullopt : std::optional(id);
}

std::optional<std::int32_t> Tokenizer::bos() const { return state_->bos; }
std::optional<std::int32_t> Tokenizer::eos() const { return state_->eos; }

std::string Tokenizer::bos_text() const { return bos() ? std::string(piece(*bos())) : ""; }
std::string Tokenizer::eos_text() const { return eos() ? std::string(piece(*eos())) : ""; }

std::vector<std::int32_t> Tokenizer::end_tokens() const {
  constexpr std::array<std::string_view, 7> kNames{
      "<|im_end|>",    "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>",
      "<|endoftext|>", "<|end|>",    "</s>"};
  Ids ids;
  if (eos()) ids.push_back(*eos());
  for (const std::string_view name : kNames) {
    const auto id = find(name);
    if (id && is_special(*id) && id != eos()) ids.push_back(*id);
  }
  return ids;
}

std::string StreamDecoder::push(std::int32_t id) {
  const std::string_view text = tokenizer_->piece(id);
  if (!skip_special_ || !tokenizer_->is_special(id)) pending_ += text;
  const std::size_t whole = complete_utf8_prefix(pending_);
  std::string out = replace_invalid_utf8(std::string_view(pending_).substr(0, whole));
  pending_.erase(0, whole);
  return out;
}

std::string StreamDecoder::flush() {
  std::string out = replace_invalid_utf8(pending_);
  pending_.clear();
  return out;
}

}  // namespace tilewright
