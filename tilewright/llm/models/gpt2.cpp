// SPDX-License-Identifier: Apache-2.0
// GPT-2: learned positions, layer norms with bias, full multi-head attention, a gelu net.
// Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019.
#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/llm/models/language_model.h"
#include "tilewright/ops/add/add.h"
#include "tilewright/ops/attention/attention.h"
#include "tilewright/ops/embedding/embedding.h"
#include "tilewright/ops/gelu/gelu.h"
#include "tilewright/ops/layer_norm/layer_norm.h"
#include "tilewright/ops/linear/linear.h"

namespace tilewright {
namespace {

struct Norm {
  Tensor weight, bias;  // [dim]
};

struct Dense {
  Tensor weight, bias;  // [out, in], [out]
};

struct Gpt2Layer {
  Norm attn_norm, ffn_norm;
  Dense qkv, attn_output, up, down;
};

class Gpt2 : public LanguageModel {
 public:
  Gpt2(const ModelConfig& config, WeightLoader& weights, const ModelDTypes& dtypes,
       const ModelLimits& limits)
      : config_(config), rounding_(dtypes.rounding) {
    load_weights(weights);
    make_buffers(weights.stream(), dtypes, limits);
  }

  void forward(const TokenBatch& batch, const std::vector<KeyValueCache>& caches,
               const Tensor& logits, const Stream& stream) override {
    const std::int64_t count = batch.tokens.size(0);
    const Tensor residual = residual_.slice(0, 0, count);  // [count, dim] f32
    const Tensor position = position_.slice(0, 0, count);  // [count, dim] f32
    embedding_into(residual, embedding_, batch.tokens, stream);
    embedding_into(position, position_embedding_, batch.positions, stream);
    add_into(residual, residual, position, stream);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      attend(layers_[i], residual, batch, caches[i], stream);
      feed_forward(layers_[i], residual, stream);
    }
    const Tensor last = residual.slice(0, batch.first_logit_row, count);
    linear_into(logits, normalised(output_norm_, last, stream), output_, {.activations = rounding_},
                stream);
  }

  std::size_t bytes_per_step() const override { return step_bytes_; }

 private:
  Tensor normalised(const Norm& norm, const Tensor& x, const Stream& stream) {
    const Tensor y = normed_.slice(0, 0, x.size(0));
    layer_norm_into(y, x, norm.weight, norm.bias, config_.norm_eps, stream);
    return y;
  }

  void attend(const Gpt2Layer& layer, const Tensor& residual, const TokenBatch& batch,
              const KeyValueCache& cache, const Stream& stream) {
    const std::int64_t count = residual.size(0);
    const Tensor qkv = qkv_.slice(0, 0, count);            // [count, 3 dim]
    const Tensor attended = attended_.slice(0, 0, count);  // [count, heads, head_dim]
    linear_into(qkv, normalised(layer.attn_norm, residual, stream), layer.qkv.weight,
                {.bias = layer.qkv.bias, .activations = rounding_}, stream);
    rope_append_(qkv, cache, batch.positions, batch.sequences, Tensor(), RopePairing::kHalfSplit,
                 stream);
    const Tensor q =
        qkv.slice(1, 0, config_.q_dim()).view({count, config_.heads, config_.head_dim});
    attention_into(attended, q, cache, batch.positions, batch.sequences, {.workspace = workspace_},
                   stream);
    linear_into(residual, attended.view({count, config_.q_dim()}), layer.attn_output.weight,
                {.bias = layer.attn_output.bias, .residual = residual, .activations = rounding_},
                stream);
  }

  void feed_forward(const Gpt2Layer& layer, const Tensor& residual, const Stream& stream) {
    const Tensor hidden = hidden_.slice(0, 0, residual.size(0));  // [count, ffn]
    linear_into(hidden, normalised(layer.ffn_norm, residual, stream), layer.up.weight,
                {.bias = layer.up.bias, .activations = rounding_}, stream);
    const bool exact = config_.activation == Activation::kGeluErf;
    gelu_into(hidden, hidden, exact ? GeluForm::kErf : GeluForm::kTanh, stream);
    linear_into(residual, hidden, layer.down.weight,
                {.bias = layer.down.bias, .residual = residual, .activations = rounding_}, stream);
  }

  void load_weights(WeightLoader& weights);
  void make_buffers(const Stream& stream, const ModelDTypes& dtypes, const ModelLimits& limits);

  ModelConfig config_;
  ActivationRounding rounding_;
  Tensor embedding_, position_embedding_;  // [vocab, dim], [context, dim]
  Norm output_norm_;
  Tensor output_;  // [vocab, dim]
  std::vector<Gpt2Layer> layers_;
  Tensor residual_, position_, normed_, qkv_, attended_, hidden_, workspace_;
  std::size_t step_bytes_ = 0;
};

void Gpt2::load_weights(WeightLoader& weights) {
  TW_CHECK(config_.activation != Activation::kSilu, Unsupported, "gpt2: the silu activation");
  const std::int64_t dim = config_.dim, ffn = config_.ffn_dim;
  const auto norm = [&](const std::string& name) {
    return Norm{weights.vector(name + ".weight", dim), weights.vector_or_none(name + ".bias", dim)};
  };
  const auto dense = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    Dense result{weights.matrix(name + ".weight", out, in),
                 weights.vector_or_none(name + ".bias", out)};
    step_bytes_ += result.weight.bytes();
    return result;
  };
  embedding_ = weights.matrix("token_embd.weight", config_.vocab, dim);
  position_embedding_ = weights.matrix("position_embd.weight", config_.context, dim);
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    const std::string block = str("blk.", i, ".");
    layers_.push_back({norm(block + "attn_norm"), norm(block + "ffn_norm"),
                       dense(block + "attn_qkv", config_.q_dim() + 2 * config_.kv_dim(), dim),
                       dense(block + "attn_output", dim, config_.q_dim()),
                       dense(block + "ffn_up", ffn, dim), dense(block + "ffn_down", dim, ffn)});
  }
  output_norm_ = norm("output_norm");
  output_ =
      config_.tie_embeddings ? embedding_ : weights.matrix("output.weight", config_.vocab, dim);
  step_bytes_ += output_.bytes();
}

void Gpt2::make_buffers(const Stream& stream, const ModelDTypes& dtypes,
                        const ModelLimits& limits) {
  const auto rows = [&](std::int64_t cols, DType dtype) {
    return Tensor::empty({limits.tokens, cols}, dtype, stream);
  };
  residual_ = rows(config_.dim, DType::f32);
  position_ = rows(config_.dim, DType::f32);
  normed_ = rows(config_.dim, dtypes.activation);
  qkv_ = rows(config_.q_dim() + 2 * config_.kv_dim(), dtypes.activation);
  attended_ = rows(config_.q_dim(), dtypes.activation)
                  .view({limits.tokens, config_.heads, config_.head_dim});
  hidden_ = rows(config_.ffn_dim, dtypes.activation);
  workspace_ = Tensor::zeros({attention_workspace(limits.tokens, config_.heads, config_.head_dim,
                                                  limits.capacity, stream.device())},
                             DType::f32, stream);
}

}  // namespace

std::unique_ptr<LanguageModel> load_gpt2(const ModelConfig& config, WeightLoader& weights,
                                         const ModelDTypes& dtypes, const ModelLimits& limits) {
  return std::make_unique<Gpt2>(config, weights, dtypes, limits);
}

}  // namespace tilewright
