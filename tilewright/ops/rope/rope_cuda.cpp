// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/rope/rope_cuda.h"

#include "tilewright/base/error.h"

namespace tilewright {

void rope_cuda(const RopeArgs&, DType, const Stream&) {
  TW_FAIL(Unsupported, "rope_cuda: this build has no kernel for cuda; run on cpu");
}

void rope_append_cuda(const RopeAppendArgs&, DType, DType, const Stream&) {
  TW_FAIL(Unsupported, "rope_append_cuda: this build has no kernel for cuda; run on cpu");
}

KernelList rope_manifest() { return {}; }

}  // namespace tilewright
