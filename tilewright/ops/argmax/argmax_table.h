// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tilewright/ops/_core/isa_table.h"

namespace tilewright {

struct ArgmaxTable {
  // The first largest of n >= 1 floats; NaN counts as larger than all.
  std::int64_t (*row)(const float* x, std::int64_t n);
};
TW_ISA_TABLE(ArgmaxTable, argmax_table)

}  // namespace tilewright
