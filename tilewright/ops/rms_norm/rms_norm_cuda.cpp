// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/rms_norm/rms_norm_cuda.h"

#include "tilewright/ops/_core/row_config.h"

namespace tilewright {

namespace {

KernelSpec rms_norm_kernel(DType y, DType x, bool residual, const RowConfig& config) {
  return {"tilewright/ops/rms_norm/rms_norm.cuh",
          instance("rms_norm_rows", y, x, residual, config.lanes, config.vecs)};
}

}  // namespace

void rms_norm_cuda(const RmsNormArgs& args, DType x, DType weight, DType y, const Stream& stream) {
  if (args.rows == 0 || args.cols == 0) return;
  RmsNormArgs typed = args;
  typed.weight_type = storage_type(weight);
  const RowConfig config = row_config(args.cols);
  launch(rms_norm_kernel(y, x, false, config), row_shape(config, args.rows, "rms_norm"), stream,
         typed);
}

void add_rms_norm_cuda(const RmsNormArgs& args, DType x, DType weight, DType residual, DType y,
                       const Stream& stream) {
  if (args.rows == 0 || args.cols == 0) return;
  RmsNormArgs typed = args;
  typed.weight_type = storage_type(weight);
  typed.residual_type = storage_type(residual);
  const RowConfig config = row_config(args.cols);
  launch(rms_norm_kernel(y, x, true, config), row_shape(config, args.rows, "add_rms_norm"), stream,
         typed);
}

KernelList rms_norm_manifest() {
  KernelList kernels;
  for (DType y : kRealTypes) {
    for (DType x : kRealTypes) {
      for (const RowConfig& config : kRowConfigs) {
        for (bool residual : {false, true}) {
          kernels.push_back(rms_norm_kernel(y, x, residual, config));
        }
      }
    }
  }
  return kernels;
}

}  // namespace tilewright
