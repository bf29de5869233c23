// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/argmax/argmax_cuda.h"

#include "tilewright/ops/_core/vocabulary_launch.h"

namespace tilewright {

namespace {

KernelSpec argmax_kernel(DType x, int cluster) {
  return {"tilewright/ops/argmax/argmax.cuh", instance("argmax_rows", x, cluster)};
}

}  // namespace

void argmax_cuda(const ArgmaxArgs& args, DType x, const Stream& stream) {
  if (args.rows == 0) return;
  const int cluster = row_cluster(args.cols, stream);
  launch(argmax_kernel(x, cluster), row_cluster_shape(args.rows, cluster, "argmax"), stream, args);
}

KernelList argmax_manifest() {
  KernelList kernels;
  for (DType x : kRealTypes) {
    for (int cluster : kRowClusters) kernels.push_back(argmax_kernel(x, cluster));
  }
  return kernels;
}

}  // namespace tilewright
