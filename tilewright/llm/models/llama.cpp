// SPDX-License-Identifier: Apache-2.0
// The Llama family: SmolLM2, Llama 2, Llama 3. Pre-norm blocks of grouped-query attention with
// rotary positions and a gated feed-forward net; five kernels a layer when decoding.
// Source: Touvron et al., "Llama 2", 2023; "The Llama 3 Herd of Models", 2024.
#include <array>

#include "tilewright/base/error.h"
#include "tilewright/llm/models/language_model.h"
#include "tilewright/ops/attention/attention.h"
#include "tilewright/ops/embedding/embedding.h"
#include "tilewright/ops/linear/linear.h"

namespace tilewright {
namespace {

struct LlamaLayer {
  Tensor attn_norm, ffn_norm;       // [dim]
  std::array<Tensor, 3> qkv;        // [q_dim, dim], [kv_dim, dim], [kv_dim, dim]
  Tensor qkv_bias;                  // [q_dim + 2 kv_dim] or none
  Tensor attn_output, output_bias;  // [dim, q_dim], [dim] or none
  std::array<Tensor, 2> gate_up;    // [ffn, dim] each
  Tensor down;                      // [dim, ffn]
};

class Llama : public LanguageModel {
 public:
  Llama(const ModelConfig& config, WeightLoader& weights, const ModelDTypes& dtypes,
        const ModelLimits& limits)
      : config_(config), rounding_(dtypes.rounding) {
    load_weights(weights);
    make_buffers(weights.stream(), dtypes, limits);
  }

  void forward(const TokenBatch& batch, const std::vector<KeyValueCache>& caches,
               const Tensor& logits, const Stream& stream) override {
    const std::int64_t count = batch.tokens.size(0);
    const Tensor residual = residual_.slice(0, 0, count);  // [count, dim] f32
    embedding_into(residual, embedding_, batch.tokens, stream);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      attend(layers_[i], residual, batch, caches[i], stream);
      feed_forward(layers_[i], residual, stream);
    }
    linear_into(
        logits, residual.slice(0, batch.first_logit_row, count), output_,
        {.norm_weight = output_norm_, .norm_eps = config_.norm_eps, .activations = rounding_},
        stream);
  }

  std::size_t bytes_per_step() const override { return step_bytes_; }

 private:
  void attend(const LlamaLayer& layer, const Tensor& residual, const TokenBatch& batch,
              const KeyValueCache& cache, const Stream& stream) {
    const std::int64_t count = residual.size(0);
    const Tensor qkv = qkv_.slice(0, 0, count);            // [count, q_dim + 2 kv_dim]
    const Tensor attended = attended_.slice(0, 0, count);  // [count, heads, head_dim]
    linear_into(qkv, residual, layer.qkv,
                {.bias = layer.qkv_bias,
                 .norm_weight = layer.attn_norm,
                 .norm_eps = config_.norm_eps,
                 .activations = rounding_},
                stream);
    rope_append_(qkv, cache, batch.positions, batch.sequences, frequencies_, config_.rope_pairing,
                 stream);
    const Tensor q =
        qkv.slice(1, 0, config_.q_dim()).view({count, config_.heads, config_.head_dim});
    attention_into(attended, q, cache, batch.positions, batch.sequences, {.workspace = workspace_},
                   stream);
    linear_into(residual, attended.view({count, config_.q_dim()}), layer.attn_output,
                {.bias = layer.output_bias, .residual = residual, .activations = rounding_},
                stream);
  }

  void feed_forward(const LlamaLayer& layer, const Tensor& residual, const Stream& stream) {
    const Tensor hidden = hidden_.slice(0, 0, residual.size(0));  // [count, ffn]
    linear_into(hidden, residual, layer.gate_up,
                {.norm_weight = layer.ffn_norm,
                 .norm_eps = config_.norm_eps,
                 .silu_pairs = true,
                 .activations = rounding_},
                stream);
    linear_into(residual, hidden, layer.down, {.residual = residual, .activations = rounding_},
                stream);
  }

  void load_weights(WeightLoader& weights);
  void load_layer(WeightLoader& weights, std::int64_t index);
  void make_buffers(const Stream& stream, const ModelDTypes& dtypes, const ModelLimits& limits);

  ModelConfig config_;
  ActivationRounding rounding_;
  Tensor embedding_, output_norm_, output_;  // [vocab, dim], [dim], [vocab, dim]
  std::vector<LlamaLayer> layers_;
  Tensor frequencies_;  // [rope_dim / 2]
  Tensor residual_, qkv_, attended_, hidden_, workspace_;
  std::size_t step_bytes_ = 0;
};

void Llama::load_layer(WeightLoader& weights, std::int64_t index) {
  const auto name = [&](const char* part) { return str("blk.", index, ".", part); };
  const std::int64_t dim = config_.dim, q_dim = config_.q_dim(), kv_dim = config_.kv_dim();
  LlamaLayer& layer = layers_.emplace_back();
  layer.attn_norm = weights.vector(name("attn_norm.weight"), dim);
  layer.qkv = {weights.matrix(name("attn_q.weight"), q_dim, dim),
               weights.matrix(name("attn_k.weight"), kv_dim, dim),
               weights.matrix(name("attn_v.weight"), kv_dim, dim)};
  layer.qkv_bias = weights.joined({name("attn_q.bias"), name("attn_k.bias"), name("attn_v.bias")},
                                  {q_dim, kv_dim, kv_dim});
  layer.attn_output = weights.matrix(name("attn_output.weight"), dim, q_dim);
  layer.output_bias = weights.vector_or_none(name("attn_output.bias"), dim);
  layer.ffn_norm = weights.vector(name("ffn_norm.weight"), dim);
  layer.gate_up = {weights.matrix(name("ffn_gate.weight"), config_.ffn_dim, dim),
                   weights.matrix(name("ffn_up.weight"), config_.ffn_dim, dim)};
  layer.down = weights.matrix(name("ffn_down.weight"), dim, config_.ffn_dim);
  for (const Tensor& part : layer.qkv) step_bytes_ += part.bytes();
  for (const Tensor& part : layer.gate_up) step_bytes_ += part.bytes();
  step_bytes_ += layer.attn_output.bytes() + layer.down.bytes();
}

void Llama::load_weights(WeightLoader& weights) {
  TW_CHECK(!config_.ffn_bias, Unsupported, "llama: a bias in the feed-forward net");
  TW_CHECK(config_.activation == Activation::kSilu, Unsupported,
           "llama: an activation other than silu");
  embedding_ = weights.matrix("token_embd.weight", config_.vocab, config_.dim);
  for (std::int64_t i = 0; i < config_.layers; ++i) load_layer(weights, i);
  output_norm_ = weights.vector("output_norm.weight", config_.dim);
  output_ = config_.tie_embeddings ? embedding_
                                   : weights.matrix("output.weight", config_.vocab, config_.dim);
  step_bytes_ += output_.bytes();
  const std::vector<float> frequencies = rope_inverse_frequencies(config_);
  frequencies_ = Tensor::from_host(frequencies.data(), {std::int64_t(frequencies.size())},
                                   DType::f32, weights.stream());
}

void Llama::make_buffers(const Stream& stream, const ModelDTypes& dtypes,
                         const ModelLimits& limits) {
  const auto rows = [&](std::int64_t cols, DType dtype) {
    return Tensor::empty({limits.tokens, cols}, dtype, stream);
  };
  residual_ = rows(config_.dim, DType::f32);
  qkv_ = rows(config_.q_dim() + 2 * config_.kv_dim(), dtypes.activation);
  attended_ = rows(config_.q_dim(), dtypes.activation)
                  .view({limits.tokens, config_.heads, config_.head_dim});
  hidden_ = rows(config_.ffn_dim, dtypes.activation);
  workspace_ = Tensor::zeros({attention_workspace(limits.tokens, config_.heads, config_.head_dim,
                                                  limits.capacity, stream.device())},
                             DType::f32, stream);
}

}  // namespace

std::unique_ptr<LanguageModel> load_llama(const ModelConfig& config, WeightLoader& weights,
                                          const ModelDTypes& dtypes, const ModelLimits& limits) {
  return std::make_unique<Llama>(config, weights, dtypes, limits);
}

std::unique_ptr<LanguageModel> load_language_model(const ModelConfig& config, WeightLoader& weights,
                                                   const ModelDTypes& dtypes,
                                                   const ModelLimits& limits) {
  switch (config.architecture) {
    case Architecture::kLlama: return load_llama(config, weights, dtypes, limits);
    case Architecture::kGpt2: return load_gpt2(config, weights, dtypes, limits);
  }
  TW_FAIL(Unsupported, "no model for this architecture");
}

}  // namespace tilewright
