// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/device/core/storage.h"

namespace tilewright {

struct LayerNormArgs {
  const void* x;       // [rows, cols]
  const void* weight;  // [cols]
  const void* bias;    // [cols], or null
  void* y;             // [rows, cols]; may be x
  int64_t rows, cols;
  int64_t x_stride, y_stride;  // of a row, in elements
  float eps;
  // Set by the cuda side.
  StorageType weight_type = kStorageF32, bias_type = kStorageF32;
};

}  // namespace tilewright
