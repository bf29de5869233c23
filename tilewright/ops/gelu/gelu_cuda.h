// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/manifest.h"
#include "tilewright/ops/gelu/gelu_args.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Chooses a configuration and launches. The arguments were checked; sizes may be 0.
void gelu_cuda(const GeluArgs& args, DType x, DType y, const Stream& stream);
KernelList gelu_manifest();

}  // namespace tilewright
