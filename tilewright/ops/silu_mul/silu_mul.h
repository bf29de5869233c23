// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/tensor.h"

namespace tilewright {

// y = gate / (1 + exp(-gate)) * up, element by element: the gated unit of Llama.
// Source: Shazeer, "GLU Variants Improve Transformer", 2020.
//   gate, up, y  [rows, cols], last axis contiguous, rows may be strided; f32, f16, bf16, mixed
void silu_mul_into(const Tensor& y, const Tensor& gate, const Tensor& up, const Stream& stream);
Tensor silu_mul(const Tensor& gate, const Tensor& up, const Stream& stream);

}  // namespace tilewright
