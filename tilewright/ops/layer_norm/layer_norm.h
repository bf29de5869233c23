// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/tensor.h"

namespace tilewright {

// y[r, c] = (x[r, c] - mean) / sqrt(variance + eps) * weight[c] + bias[c], over each row.
// Source: Ba, Kiros and Hinton, "Layer Normalization", 2016. The variance is the mean squared
// distance from the mean, taken in a second pass over values held in registers or cache.
//   x, y          [rows, cols], last axis contiguous; f32, f16, bf16, mixed
//   weight, bias  [cols], f32, f16 or bf16; bias may be undefined
void layer_norm_into(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
                     float eps, const Stream& stream);
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, float eps,
                  const Stream& stream);

}  // namespace tilewright
