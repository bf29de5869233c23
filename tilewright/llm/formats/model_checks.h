// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/llm/formats/model_config.h"
#include "tilewright/llm/formats/weights.h"

namespace tilewright {

// Every tensor that the architecture needs is there with the shape that the configuration says.
// Throws NotFound or FormatError naming the first that is not.
void check_weights(const ModelConfig& config, const WeightSource& weights);

// Sets tie_embeddings and the bias flags by what the source has.
void detect_optional_tensors(ModelConfig& config, const WeightSource& weights);

}  // namespace tilewright
