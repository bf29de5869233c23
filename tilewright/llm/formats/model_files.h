// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/llm/chat/chat_template.h"
#include "tilewright/llm/formats/model_config.h"
#include "tilewright/llm/formats/weights.h"
#include "tilewright/llm/tokenizer/tokenizer.h"

namespace tilewright {

// A model on disk: a GGUF file, or a Hugging Face folder (config.json, *.safetensors,
// tokenizer.json). Weights are mapped, not read. The tokenizer and the template are made when
// asked for, so that a model without them can still be run on token ids.
class ModelFiles {
 public:
  virtual ~ModelFiles();

  const std::filesystem::path& path() const { return path_; }
  const ModelConfig& config() const { return config_; }
  const WeightSource& weights() const { return *weights_; }
  std::shared_ptr<const WeightSource> share_weights() const { return weights_; }

  // Throws NotFound when the model ships none, Unsupported naming what is not implemented.
  virtual std::shared_ptr<const Tokenizer> load_tokenizer() const = 0;
  // Source of the chat template, empty when the model ships none.
  virtual std::string chat_template_source() const = 0;
  // Throws NotFound when the model ships none, Unsupported naming a construct and its line.
  ChatTemplate load_chat_template() const;

  // Tokens that end an answer: the tokenizer's own end of text, those that the generation
  // config or the GGUF names, and the usual end-of-turn tokens when the vocabulary has them.
  virtual std::vector<std::int32_t> stop_tokens(const Tokenizer& tokenizer) const = 0;

 protected:
  std::filesystem::path path_;
  ModelConfig config_;
  std::shared_ptr<const WeightSource> weights_;
};

// Opens a .gguf file or a folder; a folder without config.json but with one .gguf in it is that
// file. Checks that every tensor the architecture needs is there with the right shape.
// Throws NotFound, FormatError (not a model, truncated, wrong shape) or Unsupported (architecture,
// quantisation), each naming the file and what was expected.
std::unique_ptr<ModelFiles> open_model(const std::filesystem::path& path);

}  // namespace tilewright
