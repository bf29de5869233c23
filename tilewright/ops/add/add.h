// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/tensor.h"

namespace tilewright {

// y = a + b. Shapes broadcast to y's as NumPy does; any strides; y may be a or b.
//   f32, f16, bf16 in any mix (the sum is float32, rounded once), or all i32 (wraps)
void add_into(const Tensor& y, const Tensor& a, const Tensor& b, const Stream& stream);
Tensor add(const Tensor& a, const Tensor& b, const Stream& stream);

}  // namespace tilewright
