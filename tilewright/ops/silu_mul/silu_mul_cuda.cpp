// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/silu_mul/silu_mul_cuda.h"

#include "tilewright/ops/_core/pointwise_launch.h"
#include "tilewright/ops/silu_mul/silu_mul_pointwise_args.h"

namespace tilewright {

namespace {

KernelSpec silu_mul_kernel(DType y, DType gate, DType up, bool vectors) {
  return {"tilewright/ops/silu_mul/silu_mul.cuh",
          instance("silu_mul_elements", y, gate, up, vectors)};
}

SiluMulPointwiseArgs walk_of(const SiluMulArgs& args) {
  SiluMulPointwiseArgs walk = {args.y, args.gate, args.up, {}};
  PointwiseLayout<3>& layout = walk.layout;
  layout.count = args.rows * args.cols;
  const int64_t strides[3] = {args.y_stride, args.gate_stride, args.up_stride};
  const bool merged = args.rows == 1 || (strides[0] == args.cols && strides[1] == args.cols &&
                                         strides[2] == args.cols);
  layout.rank = merged ? 1 : 2;
  layout.extents[0] = merged ? layout.count : args.rows;
  layout.extents[1] = args.cols;
  for (int k = 0; k < 3; ++k) {
    layout.strides[k][0] = merged ? 1 : strides[k];
    layout.strides[k][1] = 1;
  }
  return walk;
}

}  // namespace

void silu_mul_cuda(const SiluMulArgs& args, DType gate, DType up, DType y, const Stream& stream) {
  if (args.rows == 0 || args.cols == 0) return;
  const SiluMulPointwiseArgs walk = walk_of(args);
  const bool vectors = pointwise_vectors<3>(walk.layout, {walk.y, walk.gate, walk.up});
  launch(silu_mul_kernel(y, gate, up, vectors), pointwise_shape(walk.layout, "silu_mul"), stream,
         walk);
}

KernelList silu_mul_manifest() {
  KernelList kernels;
  for (bool vectors : {false, true}) {
    for (DType y : kRealTypes) {
      for (DType gate : kRealTypes) {
        for (DType up : kRealTypes) kernels.push_back(silu_mul_kernel(y, gate, up, vectors));
      }
    }
  }
  return kernels;
}

}  // namespace tilewright
