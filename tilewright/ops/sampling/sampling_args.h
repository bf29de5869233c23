// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright {

struct SamplingParams {
  uint64_t seed = 0;
  float temperature = 0;
  float top_p = 1;
  float min_p = 0;
  int32_t top_k = 0;
};

struct SamplingArgs {
  const float* logits;           // [rows, vocab]
  const SamplingParams* params;  // [rows]
  const int32_t* positions;      // [rows]
  int32_t* tokens;               // [rows]
  int64_t logits_stride;
  int32_t rows, vocab;
};

}  // namespace tilewright
