// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/device/core/storage.h"

namespace tilewright {

struct RmsNormArgs {
  const void* x;       // [rows, cols]
  const void* weight;  // [cols]
  void* y;             // [rows, cols]; may be x
  void* residual;      // [rows, cols], read and written; null: plain rms_norm
  int64_t rows, cols;
  int64_t x_stride, y_stride, residual_stride;  // of a row, in elements
  float eps;
  // Set by the cuda side.
  StorageType weight_type = kStorageF32, residual_type = kStorageF32;
};

}  // namespace tilewright
