// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/argmax/argmax_cpu.h"

#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/rows.h"
#include "tilewright/ops/argmax/argmax_table.h"

namespace tilewright {

void argmax_cpu(const ArgmaxArgs& args, DType x) {
  parallel_for(args.rows, 1, [&](std::int64_t begin, std::int64_t end) {
    float* scratch = x == DType::f32 ? nullptr : thread_scratch(1, args.cols);
    for (std::int64_t row = begin; row < end; ++row) {
      const void* source = at(args.x, row * args.x_stride, x);
      const float* values = row_floats(x, source, scratch, args.cols);
      args.indices[row] = std::int32_t(argmax_table().row(values, args.cols));
    }
  });
}

}  // namespace tilewright
