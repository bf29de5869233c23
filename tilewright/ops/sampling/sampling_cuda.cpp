// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/sampling/sampling_cuda.h"

#include "tilewright/ops/_core/vocabulary_launch.h"

namespace tilewright {

namespace {

KernelSpec sampling_kernel(int cluster) {
  return {"tilewright/ops/sampling/sampling.cuh", instance("sample_rows", cluster)};
}

}  // namespace

void sample_cuda(const SamplingArgs& args, const Stream& stream) {
  if (args.rows == 0) return;
  const int cluster = row_cluster(args.vocab, stream);
  launch(sampling_kernel(cluster), row_cluster_shape(args.rows, cluster, "sampling"), stream, args);
}

KernelList sampling_manifest() {
  KernelList kernels;
  for (int cluster : kRowClusters) kernels.push_back(sampling_kernel(cluster));
  return kernels;
}

}  // namespace tilewright
