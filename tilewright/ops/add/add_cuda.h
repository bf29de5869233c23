// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/manifest.h"
#include "tilewright/ops/add/add_args.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Chooses a configuration and launches. The arguments were checked; sizes may be 0.
// All three i32, or each of f32, f16, bf16.
void add_cuda(const AddArgs& args, DType a, DType b, DType y, const Stream& stream);
KernelList add_manifest();

}  // namespace tilewright
