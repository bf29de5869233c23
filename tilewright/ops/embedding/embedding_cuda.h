// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/manifest.h"
#include "tilewright/ops/embedding/embedding_args.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Chooses a configuration and launches. The arguments were checked; sizes may be 0.
// table may be a GGUF block type.
void embedding_cuda(const EmbeddingArgs& args, DType table, DType y, const Stream& stream);
KernelList embedding_manifest();

}  // namespace tilewright
