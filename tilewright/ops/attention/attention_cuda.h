// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/manifest.h"
#include "tilewright/ops/attention/attention_args.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Chooses a configuration and launches. The arguments were checked; sizes may be 0.
void attention_cuda(const AttentionArgs& args, DType q, DType cache, DType out,
                    const Stream& stream);
// Floats of scratch for any cache length up to capacity; depends on sizes alone.
int64_t attention_cuda_workspace(int64_t tokens, int64_t heads, int64_t head_dim, int64_t capacity,
                                 Device device);
KernelList attention_manifest();

}  // namespace tilewright
