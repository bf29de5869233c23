// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/manifest.h"
#include "tilewright/ops/silu_mul/silu_mul_args.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Chooses a configuration and launches. The arguments were checked; sizes may be 0.
void silu_mul_cuda(const SiluMulArgs& args, DType gate, DType up, DType y, const Stream& stream);
KernelList silu_mul_manifest();

}  // namespace tilewright
