// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/linear/linear_call.h"

namespace tilewright {

// Runs a checked call on host memory. Allocates only when its thread-local scratch must grow.
void linear_cpu(const LinearCall& call);

}  // namespace tilewright
