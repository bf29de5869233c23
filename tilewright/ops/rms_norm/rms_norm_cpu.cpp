// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/rms_norm/rms_norm_cpu.h"

#include <algorithm>

#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/rows.h"
#include "tilewright/ops/rms_norm/rms_norm_table.h"

namespace tilewright {
namespace {

struct Types {
  DType x, residual, y;
};

void norm_row(const RmsNormArgs& args, const Types& types, const float* weight, std::int64_t row) {
  const std::int64_t cols = args.cols;
  float* scratch = thread_scratch(1, 3 * cols);
  float* sum = scratch + cols;
  const void* x = at(args.x, row * args.x_stride, types.x);
  const float* values = row_floats(types.x, x, scratch, cols);
  if (args.residual != nullptr) {
    void* residual = at(args.residual, row * args.residual_stride, types.residual);
    const float* old = row_floats(types.residual, residual, scratch + 2 * cols, cols);
    rms_norm_table().add(old, values, sum, cols);
    write_floats(types.residual, sum, residual, cols);
    values = sum;
  }
  void* out = at(args.y, row * args.y_stride, types.y);
  float* y = types.y == DType::f32 ? static_cast<float*>(out) : sum;
  rms_norm_table().row(values, weight, y, cols, args.eps);
  write_floats(types.y, y, out, cols);
}

}  // namespace

void rms_norm_cpu(const RmsNormArgs& args, DType x, DType weight, DType residual, DType y) {
  const float* scale = row_floats(weight, args.weight, thread_scratch(0, args.cols), args.cols);
  const Types types = {x, residual, y};
  const std::int64_t grain = std::max<std::int64_t>(1, 8192 / args.cols);
  parallel_for(args.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) norm_row(args, types, scale, row);
  });
}

}  // namespace tilewright
