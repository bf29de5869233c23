// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/tensor.h"

namespace tilewright {

enum class GeluForm { kErf, kTanh };

// y = gelu(x), exact or by its approximation with tanh:
// kErf:  y = x/2 * (1 + erf(x / sqrt 2))
// kTanh: y = x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
// Source: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
//   x, y  any shape, equal; f32, f16, bf16, mixed; y may be x
void gelu_into(const Tensor& y, const Tensor& x, GeluForm form, const Stream& stream);
Tensor gelu(const Tensor& x, GeluForm form, const Stream& stream);

}  // namespace tilewright
