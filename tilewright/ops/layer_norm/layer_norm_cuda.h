// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/manifest.h"
#include "tilewright/ops/layer_norm/layer_norm_args.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Chooses a configuration and launches. The arguments were checked; sizes may be 0.
// bias is f32 when args.bias is null.
void layer_norm_cuda(const LayerNormArgs& args, DType x, DType weight, DType bias, DType y,
                     const Stream& stream);
KernelList layer_norm_manifest();

}  // namespace tilewright
