// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tilewright/ops/_core/isa_table.h"

namespace tilewright {

struct LayerNormTable {
  // y may be x; bias may be null.
  void (*row)(const float* x, const float* weight, const float* bias, float* y, std::int64_t n,
              float eps);
};
TW_ISA_TABLE(LayerNormTable, layer_norm_table)

}  // namespace tilewright
