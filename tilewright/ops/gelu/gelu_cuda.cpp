// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/gelu/gelu_cuda.h"

#include "tilewright/ops/_core/pointwise_launch.h"

namespace tilewright {

namespace {

KernelSpec gelu_kernel(DType y, DType x, bool tanh_form, bool vectors) {
  return {"tilewright/ops/gelu/gelu.cuh", instance("gelu_elements", y, x, tanh_form, vectors)};
}

}  // namespace

void gelu_cuda(const GeluArgs& args, DType x, DType y, const Stream& stream) {
  if (args.layout.count == 0) return;
  const bool vectors = pointwise_vectors<2>(args.layout, {args.y, args.x});
  launch(gelu_kernel(y, x, args.tanh_form != 0, vectors), pointwise_shape(args.layout, "gelu"),
         stream, args);
}

KernelList gelu_manifest() {
  KernelList kernels;
  for (DType y : kRealTypes) {
    for (DType x : kRealTypes) {
      for (int form = 0; form < 4; ++form) {
        kernels.push_back(gelu_kernel(y, x, (form & 1) != 0, (form & 2) != 0));
      }
    }
  }
  return kernels;
}

}  // namespace tilewright
