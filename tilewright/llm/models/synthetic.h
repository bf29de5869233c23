// SPDX-License-Identifier: Apache-2.0
// Models of a known shape with random weights, for measuring without a download.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/llm/formats/model_files.h"

namespace tilewright {

// Names that synthetic_model() takes: llama-3.1-8b, llama-3.2-1b, smollm2-135m, …
std::vector<std::string_view> synthetic_shapes();

// Weights drawn from a normal distribution of deviation 0.02 (norms are 1), stored as `dtype`:
// f32, f16, bf16, or a block type that can be quantised. No tokenizer and no template.
// Throws InvalidArgument listing the shapes.
std::unique_ptr<ModelFiles> synthetic_model(std::string_view shape, DType dtype);

}  // namespace tilewright
