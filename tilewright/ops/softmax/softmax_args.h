// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright {

struct SoftmaxArgs {
  const void* x;  // [rows, cols]
  void* y;        // [rows, cols]; may be x
  int64_t rows, cols;
  int64_t x_stride, y_stride;  // of a row, in elements
};

}  // namespace tilewright
