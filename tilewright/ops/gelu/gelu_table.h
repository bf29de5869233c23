// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tilewright/ops/_core/isa_table.h"

namespace tilewright {

// y may be x.
struct GeluTable {
  void (*erf_row)(const float* x, float* y, std::int64_t n);
  void (*tanh_row)(const float* x, float* y, std::int64_t n);
};
TW_ISA_TABLE(GeluTable, gelu_table)

}  // namespace tilewright
