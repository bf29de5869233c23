// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/base/dtype.h"
#include "tilewright/ops/softmax/softmax_args.h"

namespace tilewright {

void softmax_cpu(const SoftmaxArgs& args, DType x, DType y);

}  // namespace tilewright
