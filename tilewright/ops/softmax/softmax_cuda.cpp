// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/softmax/softmax_cuda.h"

#include "tilewright/ops/_core/row_config.h"

namespace tilewright {

namespace {

KernelSpec softmax_kernel(DType y, DType x, const RowConfig& config) {
  return {"tilewright/ops/softmax/softmax.cuh",
          instance("softmax_rows", y, x, config.lanes, config.vecs)};
}

}  // namespace

void softmax_cuda(const SoftmaxArgs& args, DType x, DType y, const Stream& stream) {
  if (args.rows == 0 || args.cols == 0) return;
  const RowConfig config = row_config(args.cols);
  launch(softmax_kernel(y, x, config), row_shape(config, args.rows, "softmax"), stream, args);
}

KernelList softmax_manifest() {
  KernelList kernels;
  for (DType y : kRealTypes) {
    for (DType x : kRealTypes) {
      for (const RowConfig& config : kRowConfigs) kernels.push_back(softmax_kernel(y, x, config));
    }
  }
  return kernels;
}

}  // namespace tilewright
