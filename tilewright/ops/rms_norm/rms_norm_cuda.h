// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/manifest.h"
#include "tilewright/ops/rms_norm/rms_norm_args.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Chooses a configuration and launches. The arguments were checked; sizes may be 0.
void rms_norm_cuda(const RmsNormArgs& args, DType x, DType weight, DType y, const Stream& stream);
void add_rms_norm_cuda(const RmsNormArgs& args, DType x, DType weight, DType residual, DType y,
                       const Stream& stream);
KernelList rms_norm_manifest();

}  // namespace tilewright
