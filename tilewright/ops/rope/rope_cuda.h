// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/manifest.h"
#include "tilewright/ops/rope/rope_args.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Chooses a configuration and launches. The arguments were checked; sizes may be 0.
void rope_cuda(const RopeArgs& args, DType x, const Stream& stream);
void rope_append_cuda(const RopeAppendArgs& args, DType qkv, DType cache, const Stream& stream);
KernelList rope_manifest();

}  // namespace tilewright
