// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/embedding/embedding_cuda.h"

#include "tilewright/ops/_core/kernel_names.h"

namespace tilewright {

namespace {

KernelSpec embedding_kernel(DType y, DType table) {
  return {"tilewright/ops/embedding/embedding.cuh", instance("embedding_rows", y, table)};
}

}  // namespace

void embedding_cuda(const EmbeddingArgs& args, DType table, DType y, const Stream& stream) {
  if (args.tokens == 0 || args.dim == 0) return;
  launch(embedding_kernel(y, table), row_of_blocks(args.tokens, 256, "embedding"), stream, args);
}

KernelList embedding_manifest() {
  KernelList kernels;
  for (DType y : kRealTypes) {
    for (DType table : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0, DType::q4_1,
                        DType::q6_k}) {
      kernels.push_back(embedding_kernel(y, table));
    }
  }
  return kernels;
}

}  // namespace tilewright
