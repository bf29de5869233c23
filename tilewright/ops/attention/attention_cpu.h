// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/base/dtype.h"
#include "tilewright/ops/attention/attention_args.h"

namespace tilewright {

void attention_cpu(const AttentionArgs& args, DType q, DType cache, DType out);

}  // namespace tilewright
