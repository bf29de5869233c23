// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/sampling/sampling_cuda.h"

#include "tilewright/base/error.h"

namespace tilewright {

void sample_cuda(const SamplingArgs&, const Stream&) {
  TW_FAIL(Unsupported, "sample_cuda: this build has no kernel for cuda; run on cpu");
}

KernelList sampling_manifest() { return {}; }

}  // namespace tilewright
