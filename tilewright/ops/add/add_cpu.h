// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/base/dtype.h"
#include "tilewright/ops/add/add_args.h"

namespace tilewright {

void add_cpu(const AddArgs& args, DType a, DType b, DType y);

}  // namespace tilewright
