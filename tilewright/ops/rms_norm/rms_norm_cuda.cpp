// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/rms_norm/rms_norm_cuda.h"

#include "tilewright/base/error.h"

namespace tilewright {

void rms_norm_cuda(const RmsNormArgs&, DType, DType, DType, const Stream&) {
  TW_FAIL(Unsupported, "rms_norm_cuda: this build has no kernel for cuda; run on cpu");
}

void add_rms_norm_cuda(const RmsNormArgs&, DType, DType, DType, DType, const Stream&) {
  TW_FAIL(Unsupported, "add_rms_norm_cuda: this build has no kernel for cuda; run on cpu");
}

KernelList rms_norm_manifest() { return {}; }

}  // namespace tilewright
