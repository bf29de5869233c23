// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/base/dtype.h"
#include "tilewright/ops/silu_mul/silu_mul_args.h"

namespace tilewright {

void silu_mul_cpu(const SiluMulArgs& args, DType gate, DType up, DType y);

}  // namespace tilewright
