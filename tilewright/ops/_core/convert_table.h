// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tilewright/ops/_core/isa_table.h"

namespace tilewright {

// Conversions of n neighbours. A null entry: this instruction set has no fast form.
struct ConvertTable {
  void (*half_to_float)(const void* source, float* destination, std::int64_t n);
  void (*float_to_half)(const float* source, void* destination, std::int64_t n);
  void (*bf16_to_float)(const void* source, float* destination, std::int64_t n);
  void (*float_to_bf16)(const float* source, void* destination, std::int64_t n);
};
TW_ISA_TABLE(ConvertTable, convert_table)

}  // namespace tilewright
