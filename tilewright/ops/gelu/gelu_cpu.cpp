// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/gelu/gelu_cpu.h"

#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/pointwise.h"
#include "tilewright/ops/_core/strided.h"
#include "tilewright/ops/gelu/gelu_table.h"

namespace tilewright {

void gelu_cpu(const GeluArgs& args, DType x, DType y) {
  const auto row = args.tanh_form != 0 ? gelu_table().tanh_row : gelu_table().erf_row;
  const int last = args.layout.rank - 1;
  const std::int64_t y_step = args.layout.strides[0][last], x_step = args.layout.strides[1][last];
  parallel_for(args.layout.count, 4 * kStridedPiece, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) float values[kStridedPiece];
    for_each_run(args.layout, begin, end, kStridedPiece, [&](const auto& offsets, std::int64_t n) {
      read_strided(x, args.x, offsets[1], x_step, values, n);
      row(values, values, n);
      write_strided(y, values, args.y, offsets[0], y_step, n);
    });
  });
}

}  // namespace tilewright
