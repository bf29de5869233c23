// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/layer_norm/layer_norm_cuda.h"

#include "tilewright/ops/_core/row_config.h"

namespace tilewright {

namespace {

KernelSpec layer_norm_kernel(DType y, DType x, const RowConfig& config) {
  return {"tilewright/ops/layer_norm/layer_norm.cuh",
          instance("layer_norm_rows", y, x, config.lanes, config.vecs)};
}

}  // namespace

void layer_norm_cuda(const LayerNormArgs& args, DType x, DType weight, DType bias, DType y,
                     const Stream& stream) {
  if (args.rows == 0 || args.cols == 0) return;
  LayerNormArgs typed = args;
  typed.weight_type = storage_type(weight);
  typed.bias_type = storage_type(bias);
  const RowConfig config = row_config(args.cols);
  launch(layer_norm_kernel(y, x, config), row_shape(config, args.rows, "layer_norm"), stream,
         typed);
}

KernelList layer_norm_manifest() {
  KernelList kernels;
  for (DType y : kRealTypes) {
    for (DType x : kRealTypes) {
      for (const RowConfig& config : kRowConfigs) {
        kernels.push_back(layer_norm_kernel(y, x, config));
      }
    }
  }
  return kernels;
}

}  // namespace tilewright
