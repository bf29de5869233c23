// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/manifest.h"
#include "tilewright/ops/argmax/argmax_args.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Chooses a configuration and launches. The arguments were checked; sizes may be 0.
void argmax_cuda(const ArgmaxArgs& args, DType x, const Stream& stream);
KernelList argmax_manifest();

}  // namespace tilewright
