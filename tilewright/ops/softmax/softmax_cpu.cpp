// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/softmax/softmax_cpu.h"

#include <algorithm>

#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/rows.h"
#include "tilewright/ops/softmax/softmax_table.h"

namespace tilewright {

void softmax_cpu(const SoftmaxArgs& args, DType x, DType y) {
  const std::int64_t cols = args.cols;
  const std::int64_t grain = std::max<std::int64_t>(1, 4096 / cols);
  parallel_for(args.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const void* source = at(args.x, row * args.x_stride, x);
      void* out = at(args.y, row * args.y_stride, y);
      const bool direct = y == DType::f32;
      float* scratch = direct && x == DType::f32 ? nullptr : thread_scratch(1, cols);
      float* result = direct ? static_cast<float*>(out) : scratch;
      softmax_table().row(row_floats(x, source, scratch, cols), result, cols);
      write_floats(y, result, out, cols);
    }
  });
}

}  // namespace tilewright
