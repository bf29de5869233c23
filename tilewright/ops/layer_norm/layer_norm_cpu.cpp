// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/layer_norm/layer_norm_cpu.h"

#include <algorithm>

#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/rows.h"
#include "tilewright/ops/layer_norm/layer_norm_table.h"

namespace tilewright {

void layer_norm_cpu(const LayerNormArgs& args, DType x, DType weight, DType bias, DType y) {
  const std::int64_t cols = args.cols;
  float* shared = thread_scratch(0, 2 * cols);
  const float* scale = row_floats(weight, args.weight, shared, cols);
  const float* shift =
      args.bias == nullptr ? nullptr : row_floats(bias, args.bias, shared + cols, cols);
  const std::int64_t grain = std::max<std::int64_t>(1, 8192 / cols);
  parallel_for(args.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    float* scratch = thread_scratch(1, cols);
    for (std::int64_t row = begin; row < end; ++row) {
      const void* source = at(args.x, row * args.x_stride, x);
      const float* values = row_floats(x, source, scratch, cols);
      void* out = at(args.y, row * args.y_stride, y);
      float* result = y == DType::f32 ? static_cast<float*>(out) : scratch;
      layer_norm_table().row(values, scale, shift, result, cols, args.eps);
      write_floats(y, result, out, cols);
    }
  });
}

}  // namespace tilewright
