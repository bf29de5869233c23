// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/base/dtype.h"
#include "tilewright/ops/sampling/sampling_args.h"

namespace tilewright {

void sample_cpu(const SamplingArgs& args);

}  // namespace tilewright
