// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/manifest.h"
#include "tilewright/ops/linear/linear_config.h"
#include "tilewright/runtime/stream.h"

namespace tilewright {

// The call was checked. Up to 16 rows of x run kernels of ours that read the weight once, at the
// speed of memory; on sm_90 they start to read the weight before the kernel before them in the
// stream has ended, so that kernel must not be the one that writes the weight. More rows run
// cuBLASLt when it is there (block weights through an expanded copy, 256 MB at a time) or our
// plain kernel; they round a normalised x to the type of the product.
void linear_cuda(const LinearCall& call, const Stream& stream);

// For measurements: the few-row kernel with these knobs. Throws Unsupported when the call cannot
// run it.
void linear_stream_cuda(const LinearCall& call, const StreamTuning& tuning, const Stream& stream);

KernelList linear_manifest();

}  // namespace tilewright
