// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/manifest.h"
#include "tilewright/ops/sampling/sampling_args.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Chooses a configuration and launches. The arguments were checked; sizes may be 0.
void sample_cuda(const SamplingArgs& args, const Stream& stream);
KernelList sampling_manifest();

}  // namespace tilewright
