// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/formats/model_checks.h"

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

class Checker {
 public:
  Checker(const ModelConfig& config, const WeightSource& weights) : c_(config), w_(weights) {}

  void matrix(const std::string& stem, std::int64_t out, std::int64_t in, bool bias) {
    w_.get(stem + ".weight", Shape{out, in});
    if (bias) vector(stem + ".bias", out);
  }
  void norm(const std::string& stem, bool bias) {
    vector(stem + ".weight", c_.dim);
    if (bias) vector(stem + ".bias", c_.dim);
  }

  void all() {
    const bool gpt2 = c_.architecture == Architecture::kGpt2;
    matrix("token_embd", c_.vocab, c_.dim, false);
    if (gpt2) matrix("position_embd", c_.context, c_.dim, false);
    if (!c_.tie_embeddings) matrix("output", c_.vocab, c_.dim, false);
    norm("output_norm", gpt2);
    for (std::int64_t i = 0; i < c_.layers; ++i) layer(str("blk.", i, "."), gpt2);
  }

 private:
  void vector(const std::string& tensor, std::int64_t extent) {
    const DType dtype = w_.get(tensor, Shape{extent}).dtype;
    TW_CHECK(!is_block_type(dtype), Unsupported, w_.location(), ": tensor ", tensor, ": a ", dtype,
             " vector; vectors are f32, f16 or bf16");
  }

  void layer(const std::string& prefix, bool gpt2) {
    norm(prefix + "attn_norm", gpt2);
    norm(prefix + "ffn_norm", gpt2);
    if (gpt2) {
      matrix(prefix + "attn_qkv", c_.q_dim() + 2 * c_.kv_dim(), c_.dim, c_.attention_bias);
    } else {
      matrix(prefix + "attn_q", c_.q_dim(), c_.dim, c_.attention_bias);
      matrix(prefix + "attn_k", c_.kv_dim(), c_.dim, c_.attention_bias);
      matrix(prefix + "attn_v", c_.kv_dim(), c_.dim, c_.attention_bias);
      matrix(prefix + "ffn_gate", c_.ffn_dim, c_.dim, c_.ffn_bias);
    }
    matrix(prefix + "attn_output", c_.dim, c_.q_dim(), c_.attention_output_bias);
    matrix(prefix + "ffn_up", c_.ffn_dim, c_.dim, c_.ffn_bias);
    matrix(prefix + "ffn_down", c_.dim, c_.ffn_dim, c_.ffn_bias);
  }

  const ModelConfig& c_;
  const WeightSource& w_;
};

}  // namespace

void check_weights(const ModelConfig& config, const WeightSource& weights) {
  Checker(config, weights).all();
}

void detect_optional_tensors(ModelConfig& config, const WeightSource& weights) {
  const auto has = [&](const char* name) { return weights.find(name) != nullptr; };
  config.tie_embeddings = !has("output.weight");
  config.attention_bias = has("blk.0.attn_q.bias") || has("blk.0.attn_qkv.bias");
  config.attention_output_bias = has("blk.0.attn_output.bias");
  config.ffn_bias = has("blk.0.ffn_up.bias");
}

}  // namespace tilewright
