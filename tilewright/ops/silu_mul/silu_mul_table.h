// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tilewright/ops/_core/isa_table.h"

namespace tilewright {

struct SiluMulTable {
  // y = gate / (1 + exp(-gate)) * up; y may be gate or up.
  void (*row)(const float* gate, const float* up, float* y, std::int64_t n);
};
TW_ISA_TABLE(SiluMulTable, silu_mul_table)

}  // namespace tilewright
