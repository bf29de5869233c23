// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/add/add_cuda.h"

#include "tilewright/ops/_core/pointwise_launch.h"

namespace tilewright {

namespace {

KernelSpec add_kernel(DType y, DType a, DType b, bool vectors) {
  return {"tilewright/ops/add/add.cuh", instance("add_elements", y, a, b, vectors)};
}

}  // namespace

void add_cuda(const AddArgs& args, DType a, DType b, DType y, const Stream& stream) {
  if (args.layout.count == 0) return;
  const bool vectors = pointwise_vectors<3>(args.layout, {args.y, args.a, args.b});
  launch(add_kernel(y, a, b, vectors), pointwise_shape(args.layout, "add"), stream, args);
}

KernelList add_manifest() {
  KernelList kernels;
  for (bool vectors : {false, true}) {
    kernels.push_back(add_kernel(DType::i32, DType::i32, DType::i32, vectors));
    for (DType y : kRealTypes) {
      for (DType a : kRealTypes) {
        for (DType b : kRealTypes) kernels.push_back(add_kernel(y, a, b, vectors));
      }
    }
  }
  return kernels;
}

}  // namespace tilewright
