// SPDX-License-Identifier: Apache-2.0
// The two kinds of model on disk, and the parts of them that tests reach on their own.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "tilewright/llm/formats/gguf.h"
#include "tilewright/llm/formats/model_config.h"
#include "tilewright/llm/formats/model_files.h"
#include "tilewright/llm/formats/safetensors.h"

namespace tilewright {

std::unique_ptr<ModelFiles> open_gguf_model(const std::filesystem::path& path);
std::unique_ptr<ModelFiles> open_hugging_face_model(const std::filesystem::path& folder);

// Unsupported for an architecture that is not read here; check_config() has passed.
ModelConfig gguf_model_config(const GgufFile& file);
ModelConfig hugging_face_config(std::string_view config_json, std::string_view where);

// model.layers.0.self_attn.q_proj.weight -> blk.0.attn_q.weight; empty for a buffer that is no
// weight; a name that is not known stays as it is.
CanonicalName hugging_face_name(Architecture architecture, std::string_view name);

}  // namespace tilewright
