// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/tensor.h"

namespace tilewright {

// indices[r] = the first c where x[r, c] is largest; NaN counts as larger than all.
//   x  [rows, cols >= 1], f32, f16, bf16, last axis contiguous      indices  [rows] i32
void argmax_into(const Tensor& indices, const Tensor& x, const Stream& stream);
Tensor argmax(const Tensor& x, const Stream& stream);

}  // namespace tilewright
