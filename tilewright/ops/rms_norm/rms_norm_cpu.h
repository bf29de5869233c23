// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/base/dtype.h"
#include "tilewright/ops/rms_norm/rms_norm_args.h"

namespace tilewright {

void rms_norm_cpu(const RmsNormArgs& args, DType x, DType weight, DType residual, DType y);

}  // namespace tilewright
