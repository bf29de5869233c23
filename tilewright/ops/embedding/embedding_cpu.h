// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/base/dtype.h"
#include "tilewright/ops/embedding/embedding_args.h"

namespace tilewright {

void embedding_cpu(const EmbeddingArgs& args, DType table, DType y);

}  // namespace tilewright
