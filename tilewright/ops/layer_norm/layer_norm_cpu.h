// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/base/dtype.h"
#include "tilewright/ops/layer_norm/layer_norm_args.h"

namespace tilewright {

void layer_norm_cpu(const LayerNormArgs& args, DType x, DType weight, DType bias, DType y);

}  // namespace tilewright
