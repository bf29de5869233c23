// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/tensor.h"

namespace tilewright {

// y[r, c] = exp(x[r, c] - max_c) / sum_c exp(x[r, c] - max_c), over the last axis.
//   x, y  [rows, cols], last axis contiguous, rows may be strided; f32, f16, bf16, mixed
// A row of -inf gives 0 everywhere; NaN in a row makes the row NaN. Any row length.
void softmax_into(const Tensor& y, const Tensor& x, const Stream& stream);
Tensor softmax(const Tensor& x, const Stream& stream);

}  // namespace tilewright
