// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/error.h"
#include "tilewright/llm/formats/gguf.h"
#include "tilewright/llm/tokenizer/tokenizer_spec.h"

namespace tilewright {
namespace {

// Token types of the GGUF specification.
enum TokenType : std::int64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4 };

std::optional<std::int32_t> token_id(const GgufFile& file, std::string_view key,
                                     std::size_t vocab) {
  const std::int64_t id = file.get_int(key, -1);
  if (id == -1) return std::nullopt;
  TW_CHECK(id >= 0 && std::uint64_t(id) < vocab, Format, file.location(), ": key ", key, ": token ",
           id, " is outside the vocabulary of ", vocab);
  return std::int32_t(id);
}

void read_types(const GgufFile& file, TokenizerSpec& spec) {
  if (!file.has("tokenizer.ggml.token_type")) return;
  const std::vector<std::int64_t> types = file.get_ints("tokenizer.ggml.token_type");
  TW_CHECK(types.size() == spec.tokens.size(), Format, spec.location, ": ", types.size(),
           " token types for ", spec.tokens.size(), " tokens");
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] != kControl && types[i] != kUserDefined && types[i] != kUnknown) continue;
    AddedToken added;
    added.id = std::int32_t(i);
    added.content = spec.tokens[i];
    added.special = types[i] != kUserDefined;
    spec.added.push_back(std::move(added));
  }
}

void read_merges(const GgufFile& file, TokenizerSpec& spec) {
  const auto merges = file.get_strings("tokenizer.ggml.merges");
  spec.merges.reserve(merges.size());
  for (const std::string_view merge : merges) {
    // A part is never empty and may itself be no space: the alphabet has none.
    const std::size_t space = merge.find(' ', 1);
    TW_CHECK(space != std::string_view::npos && space + 1 < merge.size(), Format, spec.location,
             ": tokenizer.ggml.merges: '", merge, "' is no pair");
    spec.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
}

}  // namespace

TokenizerSpec tokenizer_spec(const GgufFile& file) {
  TokenizerSpec spec;
  spec.location = file.location();
  TW_CHECK(file.has("tokenizer.ggml.model"), NotFound, spec.location,
           ": no tokenizer: key tokenizer.ggml.model is missing");
  const std::string_view model = file.get_string("tokenizer.ggml.model");
  TW_CHECK(model == "gpt2", Unsupported, spec.location, ": tokenizer '", model,
           "' is not supported; byte-level BPE (gpt2) is");
  const std::string_view pre = file.get_string("tokenizer.ggml.pre", "default");
  spec.pre_tokenizer = named_pre_tokenizer(pre);
  const auto tokens = file.get_strings("tokenizer.ggml.tokens");
  spec.tokens.assign(tokens.begin(), tokens.end());
  read_types(file, spec);
  read_merges(file, spec);
  const bool llama3 = pre == "llama-bpe" || pre == "llama3" || pre == "llama-v3";
  spec.ignore_merges = llama3;
  if (pre == "qwen2" || pre == "deepseek-r1-qwen") spec.normalizers = {Normalization::kNfc};
  spec.bos = token_id(file, "tokenizer.ggml.bos_token_id", spec.tokens.size());
  spec.eos = token_id(file, "tokenizer.ggml.eos_token_id", spec.tokens.size());
  if (spec.bos && file.get_bool("tokenizer.ggml.add_bos_token", llama3)) spec.prefix = {*spec.bos};
  if (spec.eos && file.get_bool("tokenizer.ggml.add_eos_token", false)) spec.suffix = {*spec.eos};
  return spec;
}

}  // namespace tilewright
