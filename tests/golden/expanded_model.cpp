// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/expanded_model.h"

#include <map>
#include <utility>

#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/blocks.h"

namespace tilewright {
namespace {

struct ExpandedTensor {
  std::vector<float> values;
  TensorInfo info;
};

ExpandedTensor expand(const TensorInfo& stored) {
  const std::int64_t count = element_count(stored.shape);
  const std::int64_t cols = stored.shape[stored.shape.rank() - 1];
  const std::int64_t rows = count / cols;
  const std::size_t row_bytes = stored.data.size() / std::size_t(rows);
  ExpandedTensor result{std::vector<float>(std::size_t(count)), stored};
  parallel_for(rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      dequantize_row(stored.dtype, stored.data.data() + std::size_t(r) * row_bytes,
                     result.values.data() + r * cols, cols);
  });
  result.info.dtype = DType::f32;
  result.info.data = std::as_bytes(std::span<const float>(result.values));
  return result;
}

class ExpandedWeights : public WeightSource {
 public:
  explicit ExpandedWeights(std::shared_ptr<const WeightSource> source)
      : source_(std::move(source)), tensors_(std::make_shared<Tensors>()) {
    for (const std::string& name : source_->names()) {
      const TensorInfo& info = source_->get(name);
      if (is_block_type(info.dtype)) tensors_->emplace(name, expand(info));
    }
  }
  const TensorInfo* find(std::string_view name) const override {
    const auto found = tensors_->find(std::string(name));
    return found == tensors_->end() ? source_->find(name) : &found->second.info;
  }
  std::vector<std::string> names() const override { return source_->names(); }
  std::string location() const override { return source_->location(); }
  std::shared_ptr<const void> owner() const override {
    return std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<Tensors>>>(
        source_->owner(), tensors_);
  }

 private:
  using Tensors = std::map<std::string, ExpandedTensor>;
  std::shared_ptr<const WeightSource> source_;
  std::shared_ptr<Tensors> tensors_;
};

class ExpandedModel : public ModelFiles {
 public:
  explicit ExpandedModel(std::shared_ptr<const ModelFiles> model) : model_(std::move(model)) {
    path_ = model_->path();
    config_ = model_->config();
    weights_ = std::make_shared<ExpandedWeights>(model_->share_weights());
  }
  std::shared_ptr<const Tokenizer> load_tokenizer() const override {
    return model_->load_tokenizer();
  }
  std::string chat_template_source() const override { return model_->chat_template_source(); }
  std::vector<std::int32_t> stop_tokens(const Tokenizer& tokenizer) const override {
    return model_->stop_tokens(tokenizer);
  }

 private:
  std::shared_ptr<const ModelFiles> model_;
};

}  // namespace

std::shared_ptr<const ModelFiles> expanded(std::shared_ptr<const ModelFiles> model) {
  return std::make_shared<ExpandedModel>(std::move(model));
}

}  // namespace tilewright
