// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "tilewright/llm/formats/model_config.h"
#include "tilewright/llm/models/weight_loader.h"
#include "tilewright/ops/linear/linear_rounding.h"
#include "tilewright/ops/rope/rope.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// What one forward pass works on: tokens of any sequences at any positions.
struct TokenBatch {
  Tensor tokens, positions, sequences;  // [count] i32
  // Logits are made for rows first_logit_row … count-1 alone.
  std::int64_t first_logit_row = 0;
};

// Dtypes of a run. The residual stream is float32 on every device.
struct ModelDTypes {
  DType activation = DType::f32;                                  // between the ops of a layer
  DType cache = DType::f32;                                       // keys and values
  ActivationRounding rounding = ActivationRounding::kSixteenBit;  // before quantised weights
};

// Sizes that the buffers of a model are made for.
struct ModelLimits {
  std::int64_t tokens = 1;     // most tokens of one forward pass
  std::int64_t sequences = 1;  // rows of the cache
  std::int64_t capacity = 1;   // positions of the cache
};

// A family of models: composes ops, holds weights and scratch. forward() allocates nothing for
// few tokens, so that a decode step can be captured.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;
  // logits: [count - first_logit_row, vocab] f32.
  virtual void forward(const TokenBatch& batch, const std::vector<KeyValueCache>& caches,
                       const Tensor& logits, const Stream& stream) = 0;
  // Bytes of weights that a decode step reads.
  virtual std::size_t bytes_per_step() const = 0;
};

std::unique_ptr<LanguageModel> load_llama(const ModelConfig& config, WeightLoader& weights,
                                          const ModelDTypes& dtypes, const ModelLimits& limits);
std::unique_ptr<LanguageModel> load_gpt2(const ModelConfig& config, WeightLoader& weights,
                                         const ModelDTypes& dtypes, const ModelLimits& limits);
// By config.architecture.
std::unique_ptr<LanguageModel> load_language_model(const ModelConfig& config, WeightLoader& weights,
                                                   const ModelDTypes& dtypes,
                                                   const ModelLimits& limits);

}  // namespace tilewright
