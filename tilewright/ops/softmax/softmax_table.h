// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tilewright/ops/_core/isa_table.h"

namespace tilewright {

struct SoftmaxTable {
  void (*row)(const float* x, float* y, std::int64_t n);  // y may be x
};
TW_ISA_TABLE(SoftmaxTable, softmax_table)

}  // namespace tilewright
