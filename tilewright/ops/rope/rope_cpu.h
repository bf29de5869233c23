// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/base/dtype.h"
#include "tilewright/ops/rope/rope_args.h"

namespace tilewright {

void rope_cpu(const RopeArgs& args, DType x);
void rope_append_cpu(const RopeAppendArgs& args, DType qkv, DType cache);

}  // namespace tilewright
