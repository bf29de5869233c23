// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/models/synthetic.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "tilewright/base/error.h"
#include "tilewright/ops/_core/blocks.h"

namespace tilewright {
namespace {

constexpr std::int64_t kPatternElements = std::int64_t{1} << 22;
// Models up to this size have memory of their own for every tensor; the tensors of larger ones
// share it, which only a device that copies them can tell.
constexpr std::size_t kDistinctBytes = std::size_t{2} << 30;
constexpr float kDeviation = 0.02F;

ModelConfig llama_shape(std::string name, std::int64_t layers, std::int64_t dim, std::int64_t ffn,
                        std::int64_t heads, std::int64_t kv_heads, std::int64_t vocab,
                        float rope_base, bool tied) {
  ModelConfig config;
  config.name = std::move(name);
  config.layers = layers;
  config.dim = dim;
  config.ffn_dim = ffn;
  config.heads = heads;
  config.kv_heads = kv_heads;
  config.head_dim = dim / heads;
  config.vocab = vocab;
  config.context = 8192;
  config.rope_base = rope_base;
  config.rope_dim = config.head_dim;
  config.tie_embeddings = tied;
  return config;
}

// Sizes from the models' published configurations.
const std::vector<ModelConfig>& shapes() {
  static const std::vector<ModelConfig> list{
      llama_shape("llama-3.1-8b", 32, 4096, 14336, 32, 8, 128256, 500000, false),
      llama_shape("llama-3.2-1b", 16, 2048, 8192, 32, 8, 128256, 500000, true),
      llama_shape("smollm2-135m", 30, 576, 1536, 9, 3, 49152, 100000, true),
      llama_shape("smollm2-360m", 32, 960, 2560, 15, 5, 49152, 100000, true),
      llama_shape("tiny", 2, 256, 512, 4, 2, 512, 10000, true),
      llama_shape("smollm2-1.7b", 24, 2048, 8192, 32, 32, 49152, 130000, true),
  };
  return list;
}

std::vector<std::byte> random_pattern(DType dtype) {
  std::mt19937_64 generator(20240601);
  std::normal_distribution<float> normal(0, kDeviation);
  std::vector<float> values(static_cast<std::size_t>(kPatternElements));
  for (float& value : values) value = normal(generator);
  std::vector<std::byte> bytes(bytes_of(dtype, kPatternElements));
  quantize_row(dtype, values.data(), bytes.data(), kPatternElements);
  return bytes;
}

class SyntheticWeights : public WeightSource {
 public:
  SyntheticWeights(const ModelConfig& config, DType dtype) : dtype_(dtype) {
    list(config);
    fill();
  }
  const TensorInfo* find(std::string_view name) const override {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
  }
  std::vector<std::string> names() const override {
    std::vector<std::string> result;
    for (const auto& [name, info] : tensors_) result.push_back(name);
    return result;
  }
  std::string location() const override { return "synthetic model"; }
  std::shared_ptr<const void> owner() const override { return memory_; }

 private:
  void add(const std::string& name, const Shape& shape) {
    const bool vector = shape.rank() == 1;
    tensors_[name] = {name, vector ? DType::f32 : dtype_, shape, {}, false};
  }

  void list(const ModelConfig& c) {
    add("token_embd.weight", {c.vocab, c.dim});
    add("output_norm.weight", {c.dim});
    if (!c.tie_embeddings) add("output.weight", {c.vocab, c.dim});
    for (std::int64_t i = 0; i < c.layers; ++i) {
      const std::string block = str("blk.", i, ".");
      add(block + "attn_norm.weight", {c.dim});
      add(block + "attn_q.weight", {c.q_dim(), c.dim});
      add(block + "attn_k.weight", {c.kv_dim(), c.dim});
      add(block + "attn_v.weight", {c.kv_dim(), c.dim});
      add(block + "attn_output.weight", {c.dim, c.q_dim()});
      add(block + "ffn_norm.weight", {c.dim});
      add(block + "ffn_gate.weight", {c.ffn_dim, c.dim});
      add(block + "ffn_up.weight", {c.ffn_dim, c.dim});
      add(block + "ffn_down.weight", {c.dim, c.ffn_dim});
    }
  }

  void fill() {
    std::size_t total = 0, largest = 0;
    for (const auto& [name, info] : tensors_) {
      const std::size_t bytes = bytes_of(info.dtype, element_count(info.shape));
      total += padded(bytes);
      largest = std::max(largest, padded(bytes));
    }
    const bool distinct = total <= kDistinctBytes;
    memory_ =
        std::make_shared<std::vector<std::byte>>((distinct ? total : largest) + vector_bytes());
    float* ones = reinterpret_cast<float*>(memory_->data());
    std::fill_n(ones, kLongestVector, 1.0F);
    const std::vector<std::byte> pattern = random_pattern(dtype_);
    std::byte* first = memory_->data() + vector_bytes();
    for (std::byte *to = first, *end = memory_->data() + memory_->size(); to < end;) {
      const auto count = std::min(pattern.size(), std::size_t(end - to));
      std::memcpy(to, pattern.data(), count);
      to += count;
    }
    std::size_t offset = 0;
    for (auto& [name, info] : tensors_) {
      const std::size_t bytes = bytes_of(info.dtype, element_count(info.shape));
      const bool vector = info.shape.rank() == 1;
      info.data = {vector ? memory_->data() : first + offset, bytes};
      // Whole blocks from the start of one, whatever the tensor before it.
      if (distinct && !vector) offset += padded(bytes);
    }
  }

  // A multiple of the pattern's super-blocks, of 16 bytes too.
  std::size_t padded(std::size_t bytes) const {
    const std::size_t step = std::size_t(info(dtype_).bytes) * 1024;
    return (bytes + step - 1) / step * step;
  }

  static constexpr std::size_t kLongestVector = 1 << 16;
  static constexpr std::size_t vector_bytes() { return kLongestVector * sizeof(float); }

  DType dtype_;
  std::map<std::string, TensorInfo, std::less<>> tensors_;
  std::shared_ptr<std::vector<std::byte>> memory_;
};

class SyntheticModel : public ModelFiles {
 public:
  SyntheticModel(const ModelConfig& config, DType dtype) {
    path_ = config.name;
    config_ = config;
    check_config(config_, config.name);
    weights_ = std::make_shared<SyntheticWeights>(config, dtype);
  }
  std::shared_ptr<const Tokenizer> load_tokenizer() const override {
    TW_FAIL(NotFound, config_.name, " has random weights and no tokenizer");
  }
  std::string chat_template_source() const override { return {}; }
  std::vector<std::int32_t> stop_tokens(const Tokenizer&) const override { return {}; }
};

}  // namespace

std::vector<std::string_view> synthetic_shapes() {
  std::vector<std::string_view> names;
  for (const ModelConfig& config : shapes()) names.push_back(config.name);
  return names;
}

std::unique_ptr<ModelFiles> synthetic_model(std::string_view shape, DType dtype) {
  std::string known;
  for (const ModelConfig& config : shapes()) {
    if (config.name == shape) return std::make_unique<SyntheticModel>(config, dtype);
    known += str(known.empty() ? "" : ", ", config.name);
  }
  TW_FAIL(InvalidArgument, "no shape '", shape, "'; known are ", known);
}

}  // namespace tilewright
