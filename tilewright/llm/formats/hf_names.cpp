// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "tilewright/base/error.h"
#include "tilewright/llm/formats/model_readers.h"

namespace tilewright {
namespace {

struct Rename {
  std::string_view from, to;
  bool transposed = false;
};

// Parts of a layer, without .weight or .bias.
constexpr std::array kLlamaParts{
    Rename{"input_layernorm", "attn_norm"}, Rename{"post_attention_layernorm", "ffn_norm"},
    Rename{"self_attn.q_proj", "attn_q"},   Rename{"self_attn.k_proj", "attn_k"},
    Rename{"self_attn.v_proj", "attn_v"},   Rename{"self_attn.o_proj", "attn_output"},
    Rename{"mlp.gate_proj", "ffn_gate"},    Rename{"mlp.up_proj", "ffn_up"},
    Rename{"mlp.down_proj", "ffn_down"},
};
constexpr std::array kGpt2Parts{
    Rename{"ln_1", "attn_norm"},
    Rename{"ln_2", "ffn_norm"},
    Rename{"attn.c_attn", "attn_qkv", true},
    Rename{"attn.c_proj", "attn_output", true},
    Rename{"mlp.c_fc", "ffn_up", true},
    Rename{"mlp.c_proj", "ffn_down", true},
};
constexpr std::array kLlamaTop{Rename{"embed_tokens", "token_embd"}, Rename{"norm", "output_norm"},
                               Rename{"lm_head", "output"}};
constexpr std::array kGpt2Top{Rename{"wte", "token_embd"}, Rename{"wpe", "position_embd"},
                              Rename{"ln_f", "output_norm"}, Rename{"lm_head", "output"}};

const Rename* find(std::span<const Rename> table, std::string_view from) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Rename& rename) { return rename.from == from; });
  return found == table.end() ? nullptr : &*found;
}

bool consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Buffers that old checkpoints store beside the weights.
bool is_buffer(std::string_view name) {
  return name.ends_with("rotary_emb.inv_freq") || name.ends_with(".attn.bias") ||
         name.ends_with(".attn.masked_bias");
}

}  // namespace

CanonicalName hugging_face_name(Architecture architecture, std::string_view name) {
  const bool gpt2 = architecture == Architecture::kGpt2;
  if (is_buffer(name)) return {};
  std::string_view rest = name;
  consume(rest, gpt2 ? "transformer." : "model.");
  const std::size_t dot = rest.rfind('.');
  if (dot == std::string_view::npos) return {std::string(name), false};
  const std::string_view suffix = rest.substr(dot);
  rest = rest.substr(0, dot);
  const bool weight = suffix == ".weight";
  if (!weight && suffix != ".bias") return {std::string(name), false};

  const auto renamed = [&](const Rename& rename, std::string_view prefix) {
    return CanonicalName{str(prefix, rename.to, suffix), rename.transposed && weight};
  };
  if (consume(rest, gpt2 ? "h." : "layers.")) {
    const std::size_t end = rest.find('.');
    const std::string_view number = rest.substr(0, end);
    const bool digits = !number.empty() && std::all_of(number.begin(), number.end(),
                                                       [](char c) { return c >= '0' && c <= '9'; });
    if (end == std::string_view::npos || !digits) return {std::string(name), false};
    const std::span<const Rename> parts =
        gpt2 ? std::span<const Rename>(kGpt2Parts) : std::span<const Rename>(kLlamaParts);
    const Rename* part = find(parts, rest.substr(end + 1));
    return part == nullptr ? CanonicalName{std::string(name), false}
                           : renamed(*part, str("blk.", number, "."));
  }
  const std::span<const Rename> top =
      gpt2 ? std::span<const Rename>(kGpt2Top) : std::span<const Rename>(kLlamaTop);
  const Rename* part = find(top, rest);
  return part == nullptr ? CanonicalName{std::string(name), false} : renamed(*part, "");
}

}  // namespace tilewright
