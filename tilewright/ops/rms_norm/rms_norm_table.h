// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tilewright/ops/_core/isa_table.h"

namespace tilewright {

struct RmsNormTable {
  // y = x / sqrt(mean(x^2) + eps) * weight; y may be x.
  void (*row)(const float* x, const float* weight, float* y, std::int64_t n, float eps);
  // sum = a + b; sum may be either.
  void (*add)(const float* a, const float* b, float* sum, std::int64_t n);
};
TW_ISA_TABLE(RmsNormTable, rms_norm_table)

}  // namespace tilewright
