// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright {

struct SiluMulArgs {
  const void* gate;  // [rows, cols]
  const void* up;    // [rows, cols]
  void* y;           // [rows, cols]; may be gate or up
  int64_t rows, cols;
  int64_t gate_stride, up_stride, y_stride;  // of a row, in elements
};

}  // namespace tilewright
