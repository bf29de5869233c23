// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tilewright/base/error.h"
#include "tilewright/llm/formats/model_checks.h"
#include "tilewright/llm/formats/model_readers.h"
#include "tilewright/llm/tokenizer/tokenizer_spec.h"

namespace tilewright {
namespace {

Architecture parse_architecture(const GgufFile& file) {
  const std::string_view text = file.get_string("general.architecture");
  if (text == "llama") return Architecture::kLlama;
  if (text == "gpt2") return Architecture::kGpt2;
  TW_FAIL(Unsupported, file.location(), ": architecture '", text,
          "' is not supported; supported are llama, gpt2");
}

std::vector<float> read_floats(const TensorInfo& tensor, std::string_view where) {
  TW_CHECK(tensor.dtype == DType::f32, Format, where, ": tensor ", tensor.name, " is ",
           tensor.dtype, ", wants f32");
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), values.size() * sizeof(float));
  return values;
}

RopeScaling read_rope_scaling(const GgufFile& file, const std::string& prefix) {
  RopeScaling scaling;
  const std::string_view type = file.get_string(prefix + "rope.scaling.type", "none");
  const double old_factor = file.get_float(prefix + "rope.scale_linear", 1.0);
  TW_CHECK(type == "none" || type == "linear", Unsupported, file.location(), ": rope scaling '",
           type, "' is not supported; supported are none, linear and rope_freqs.weight");
  if (type == "linear" || old_factor != 1.0) {
    scaling.kind = RopeScaling::Kind::kLinear;
    scaling.factor = float(file.get_float(prefix + "rope.scaling.factor", old_factor));
  }
  if (const TensorInfo* factors = file.find("rope_freqs.weight")) {
    scaling.factors = read_floats(*factors, file.location());
    for (float& factor : scaling.factors) factor *= scaling.factor;
    scaling.kind = RopeScaling::Kind::kFactors;
    scaling.factor = 1;
  }
  return scaling;
}

void read_llama(const GgufFile& file, const std::string& prefix, ModelConfig& config) {
  TW_CHECK(file.get_int(prefix + "expert_count", 0) == 0, Unsupported, file.location(),
           ": a mixture of experts is not supported");
  config.norm_eps = float(file.get_float(prefix + "attention.layer_norm_rms_epsilon"));
  config.rope_base = float(file.get_float(prefix + "rope.freq_base", 10000.0));
  config.rope_dim = file.get_int(prefix + "rope.dimension_count", config.head_dim);
  config.rope_scaling = read_rope_scaling(file, prefix);
  config.rope_pairing = RopePairing::kInterleaved;
}

}  // namespace

ModelConfig gguf_model_config(const GgufFile& file) {
  ModelConfig config;
  config.architecture = parse_architecture(file);
  const std::string prefix = str(name(config.architecture), ".");
  config.name = file.get_string("general.name", "");
  config.layers = file.get_int(prefix + "block_count");
  config.dim = file.get_int(prefix + "embedding_length");
  config.ffn_dim = file.get_int(prefix + "feed_forward_length");
  config.heads = file.get_int(prefix + "attention.head_count");
  config.kv_heads = file.get_int(prefix + "attention.head_count_kv", config.heads);
  TW_CHECK(config.heads > 0, Format, file.location(), ": ", prefix, "attention.head_count is ",
           config.heads, ", wants 1 or more");
  config.head_dim = file.get_int(prefix + "attention.key_length", config.dim / config.heads);
  const std::int64_t value_dim = file.get_int(prefix + "attention.value_length", config.head_dim);
  TW_CHECK(value_dim == config.head_dim, Unsupported, file.location(), ": value heads of ",
           value_dim, " beside key heads of ", config.head_dim, " are not supported");
  config.context = file.get_int(prefix + "context_length");
  const TensorInfo& embedding = file.get("token_embd.weight");
  TW_CHECK(embedding.shape.rank() == 2, Format, file.location(),
           ": tensor token_embd.weight: shape is ", embedding.shape, ", wants [vocab, dim]");
  config.vocab = embedding.shape[0];
  if (config.architecture == Architecture::kLlama) {
    read_llama(file, prefix, config);
  } else {
    config.norm_eps = float(file.get_float(prefix + "attention.layer_norm_epsilon"));
    config.activation = Activation::kGeluTanh;
  }
  detect_optional_tensors(config, file);
  check_config(config, file.location());
  return config;
}

namespace {

class GgufModel : public ModelFiles {
 public:
  explicit GgufModel(const std::filesystem::path& path)
      : file_(std::make_shared<const GgufFile>(path)) {
    path_ = path;
    config_ = gguf_model_config(*file_);
    weights_ = file_;
    check_weights(config_, *file_);
  }

  std::shared_ptr<const Tokenizer> load_tokenizer() const override {
    return std::make_shared<const Tokenizer>(tokenizer_spec(*file_));
  }

  std::string chat_template_source() const override {
    return std::string(file_->get_string("tokenizer.chat_template", ""));
  }

  std::vector<std::int32_t> stop_tokens(const Tokenizer& tokenizer) const override {
    std::vector<std::int32_t> stops = tokenizer.end_tokens();
    for (const char* key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
      const std::int64_t id = file_->get_int(key, -1);
      if (id >= 0 && id < tokenizer.vocab_size()) stops.push_back(std::int32_t(id));
    }
    return stops;
  }

 private:
  std::shared_ptr<const GgufFile> file_;
};

}  // namespace

std::unique_ptr<ModelFiles> open_gguf_model(const std::filesystem::path& path) {
  return std::make_unique<GgufModel>(path);
}

}  // namespace tilewright
