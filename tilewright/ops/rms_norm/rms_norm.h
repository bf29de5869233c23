// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/tensor.h"

namespace tilewright {

// y[r, c] = x[r, c] / sqrt(mean_c(x[r, :]^2) + eps) * weight[c].
// Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.
//   x, y     [rows, cols]; rows may be strided, the last axis is contiguous; f32, f16, bf16, mixed
//   weight   [cols], f32, f16 or bf16
// The sum is float32, in an order that depends on cols alone (batch-invariant).
void rms_norm_into(const Tensor& y, const Tensor& x, const Tensor& weight, float eps,
                   const Stream& stream);
Tensor rms_norm(const Tensor& x, const Tensor& weight, float eps, const Stream& stream);

// residual = residual + x, then y = rms_norm(residual): one pass over both. residual is [rows,
// cols] of its own dtype; the normalised value is that of the sum before it is rounded.
void add_rms_norm_into(const Tensor& y, const Tensor& residual, const Tensor& x,
                       const Tensor& weight, float eps, const Stream& stream);

}  // namespace tilewright
