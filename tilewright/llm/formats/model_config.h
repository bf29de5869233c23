// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/ops/rope/rope_frequencies.h"

namespace tilewright {

enum class Architecture { kLlama, kGpt2 };
std::string_view name(Architecture architecture);

enum class Activation { kSilu, kGeluTanh, kGeluErf };

// Everything about a model but its weights.
struct ModelConfig {
  Architecture architecture = Architecture::kLlama;
  std::string name;  // for people; may be empty
  std::int64_t layers = 0, dim = 0, ffn_dim = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t vocab = 0, context = 0;
  float norm_eps = 1e-5F;
  float rope_base = 10000;
  std::int64_t rope_dim = 0;  // leading elements of a head that rotate; 0 without rope (GPT-2)
  RopeScaling rope_scaling;
  RopePairing rope_pairing = RopePairing::kHalfSplit;
  bool tie_embeddings = false;  // the output matrix is token_embd.weight
  bool attention_bias = false;  // attn_q, attn_k, attn_v (or attn_qkv) have a bias
  bool attention_output_bias = false;
  bool ffn_bias = false;
  Activation activation = Activation::kSilu;

  std::int64_t q_dim() const { return heads * head_dim; }
  std::int64_t kv_dim() const { return kv_heads * head_dim; }
};

// Throws FormatError naming the field when the numbers do not fit together (heads not a multiple
// of kv_heads, zero or absurd sizes). `where` starts the message: a file name.
void check_config(const ModelConfig& config, std::string_view where);

// Angle per position of each rotating pair, rope_dim / 2 of them, scaling applied:
//   base^(-2i/rope_dim), then divided by `factor` (linear), blended by wavelength (llama3), or
//   divided by factors[i]. Computed in double precision.
// Source: "The Llama 3 Herd of Models" and the config of Llama 3.1 for the llama3 kind.
std::vector<float> rope_inverse_frequencies(const ModelConfig& config);

}  // namespace tilewright
