// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/base/dtype.h"
#include "tilewright/ops/argmax/argmax_args.h"

namespace tilewright {

void argmax_cpu(const ArgmaxArgs& args, DType x);

}  // namespace tilewright
