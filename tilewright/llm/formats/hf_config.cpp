// SPDX-License-Identifier: Apache-2.0
// config.json of a Hugging Face folder.
#include <nlohmann/json.hpp>

#include "tilewright/llm/formats/json_access.h"
#include "tilewright/llm/formats/model_readers.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;
using Object = JsonObject<Json>;

Architecture parse_architecture(const Object& root, std::string_view where) {
  const std::string& type = root.text("model_type");
  if (type == "llama" || type == "mistral") return Architecture::kLlama;
  if (type == "gpt2") return Architecture::kGpt2;
  TW_FAIL(Unsupported, where, ": architecture '", type,
          "' is not supported; supported are llama, mistral, gpt2");
}

Activation parse_activation(const std::string& text, std::string_view where) {
  if (text == "silu" || text == "swish") return Activation::kSilu;
  if (text == "gelu_new" || text == "gelu_pytorch_tanh") return Activation::kGeluTanh;
  if (text == "gelu") return Activation::kGeluErf;
  TW_FAIL(Unsupported, where, ": activation '", text,
          "' is not supported; supported are silu, gelu_new, gelu_pytorch_tanh, gelu");
}

RopeScaling parse_rope_scaling(const Json& json, std::string_view where) {
  const Object object(json, where);
  const std::string type = object.text("rope_type", object.text("type", "default"));
  RopeScaling scaling;
  if (type == "default") return scaling;
  TW_CHECK(type == "linear" || type == "llama3", Unsupported, where, ": rope scaling '", type,
           "' is not supported; supported are default, linear, llama3");
  scaling.factor = float(object.number("factor"));
  scaling.kind = RopeScaling::Kind::kLinear;
  if (type == "linear") return scaling;
  scaling.kind = RopeScaling::Kind::kLlama3;
  scaling.low_freq_factor = float(object.number("low_freq_factor"));
  scaling.high_freq_factor = float(object.number("high_freq_factor"));
  scaling.original_context = object.integer("original_max_position_embeddings");
  return scaling;
}

void read_rope(const Object& root, ModelConfig& config, std::string_view where) {
  config.rope_base = float(root.number("rope_theta", 10000.0));
  double rotated = root.number("partial_rotary_factor", 1.0);
  if (const Json* scaling = root.find("rope_scaling")) {
    config.rope_scaling = parse_rope_scaling(*scaling, str(where, ": rope_scaling"));
  }
  // transformers 5 writes the base and the scaling into one object.
  if (const Json* parameters = root.find("rope_parameters")) {
    const std::string inside = str(where, ": rope_parameters");
    const Object object(*parameters, inside);
    config.rope_base = float(object.number("rope_theta", config.rope_base));
    rotated = object.number("partial_rotary_factor", rotated);
    config.rope_scaling = parse_rope_scaling(*parameters, inside);
  }
  TW_CHECK(config.head_dim <= 1 << 16, Format, where, ": head_dim is ", config.head_dim);
  TW_CHECK(rotated > 0 && rotated <= 1, Format, where, ": partial_rotary_factor is ", rotated,
           ", wants more than 0 and at most 1");
  config.rope_dim = std::int64_t(double(config.head_dim) * rotated);
  config.rope_pairing = RopePairing::kHalfSplit;
}

void read_llama(const Object& root, ModelConfig& config, std::string_view where) {
  config.layers = root.integer("num_hidden_layers");
  config.dim = root.integer("hidden_size");
  config.ffn_dim = root.integer("intermediate_size");
  config.heads = root.integer("num_attention_heads");
  config.kv_heads = root.integer("num_key_value_heads", config.heads);
  TW_CHECK(config.heads > 0, Format, where, ": num_attention_heads is ", config.heads,
           ", wants 1 or more");
  config.head_dim = root.integer("head_dim", config.dim / config.heads);
  config.context = root.integer("max_position_embeddings", 2048);
  config.norm_eps = float(root.number("rms_norm_eps", 1e-6));
  config.activation = parse_activation(root.text("hidden_act", "silu"), where);
  TW_CHECK(config.activation == Activation::kSilu, Unsupported, where, ": hidden_act '",
           root.text("hidden_act", "silu"), "' is not supported for llama; silu is");
  config.tie_embeddings = root.boolean("tie_word_embeddings", false);
  config.attention_bias = config.attention_output_bias = root.boolean("attention_bias", false);
  config.ffn_bias = root.boolean("mlp_bias", false);
  const std::int64_t window = root.integer("sliding_window", config.context);
  // Within the window, sliding attention is plain causal attention.
  config.context = std::min(config.context, window);
  read_rope(root, config, where);
}

void read_gpt2(const Object& root, ModelConfig& config, std::string_view where) {
  config.layers = root.integer("n_layer");
  config.dim = root.integer("n_embd");
  config.heads = config.kv_heads = root.integer("n_head");
  TW_CHECK(config.heads > 0 && config.dim % config.heads == 0, Format, where, ": n_embd ",
           config.dim, " is no multiple of n_head ", config.heads);
  TW_CHECK(config.dim <= 1 << 24, Format, where, ": n_embd ", config.dim, " is too large");
  config.ffn_dim = root.integer("n_inner", 4 * config.dim);
  config.head_dim = config.dim / config.heads;
  config.context = root.integer("n_positions", root.integer("n_ctx", 1024));
  config.norm_eps = float(root.number("layer_norm_epsilon", 1e-5));
  config.activation = parse_activation(root.text("activation_function", "gelu_new"), where);
  config.tie_embeddings = root.boolean("tie_word_embeddings", true);
  config.attention_bias = config.attention_output_bias = config.ffn_bias = true;
  for (const char* key : {"scale_attn_by_inverse_layer_idx", "add_cross_attention"}) {
    TW_CHECK(!root.boolean(key, false), Unsupported, where, ": ", key, " is not supported");
  }
  TW_CHECK(root.boolean("scale_attn_weights", true), Unsupported, where,
           ": scale_attn_weights = false is not supported");
}

}  // namespace

ModelConfig hugging_face_config(std::string_view config_json, std::string_view where) {
  const auto json = parse_json<Json>(config_json, where);
  const Object root(json, where);
  ModelConfig config;
  config.architecture = parse_architecture(root, where);
  if (const Json* quantised = root.find("quantization_config")) {
    TW_FAIL(Unsupported, where, ": quantisation '",
            Object(*quantised, where).text("quant_method", "unknown"),
            "' is not supported in safetensors; use the original weights or a GGUF file");
  }
  config.name = root.text("_name_or_path", "");
  config.vocab = root.integer("vocab_size");
  if (config.architecture == Architecture::kLlama) {
    read_llama(root, config, where);
  } else {
    read_gpt2(root, config, where);
  }
  check_config(config, where);
  return config;
}

}  // namespace tilewright
