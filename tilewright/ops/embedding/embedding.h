// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/tensor.h"

namespace tilewright {

// y[t, :] = table[ids[t], :].
//   table  [vocab, dim], f32, f16, bf16 or a GGUF block type (rows are dequantised as they are
//   read) ids    [tokens], i32 on the same device y      [tokens, dim], f32, f16 or bf16
// An id outside [0, vocab) gives a row of NaN on every device (checked on the host by callers that
// can: a device id cannot be read without a synchronisation).
// Throws InvalidArgument for dtype, shape, stride or device.
void embedding_into(const Tensor& y, const Tensor& table, const Tensor& ids, const Stream& stream);
Tensor embedding(const Tensor& table, const Tensor& ids, DType dtype, const Stream& stream);

}  // namespace tilewright
