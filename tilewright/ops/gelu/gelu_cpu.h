// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/base/dtype.h"
#include "tilewright/ops/gelu/gelu_args.h"

namespace tilewright {

void gelu_cpu(const GeluArgs& args, DType x, DType y);

}  // namespace tilewright
