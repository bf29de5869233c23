// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/attention/attention_cuda.h"

#include "tilewright/base/error.h"

namespace tilewright {

void attention_cuda(const AttentionArgs&, DType, DType, DType, const Stream&) {
  TW_FAIL(Unsupported, "attention_cuda: this build has no kernel for cuda; run on cpu");
}

int64_t attention_cuda_workspace(int64_t, int64_t, int64_t, int64_t, Device) { return 0; }

KernelList attention_manifest() { return {}; }

}  // namespace tilewright
