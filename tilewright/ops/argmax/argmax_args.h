// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright {

struct ArgmaxArgs {
  const void* x;     // [rows, cols]
  int32_t* indices;  // [rows], contiguous
  int64_t rows;
  int64_t x_stride;  // of a row, in elements
  int32_t cols;      // at least 1
};

}  // namespace tilewright
