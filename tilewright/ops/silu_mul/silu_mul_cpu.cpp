// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/silu_mul/silu_mul_cpu.h"

#include <algorithm>

#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/rows.h"
#include "tilewright/ops/silu_mul/silu_mul_table.h"

namespace tilewright {
namespace {

constexpr std::int64_t kPiece = 1024;  // elements; three pieces fit the first-level cache

struct Types {
  DType gate, up, y;
};

void silu_mul_piece(const SiluMulArgs& args, const Types& types, std::int64_t row,
                    std::int64_t begin, std::int64_t n) {
  alignas(64) float scratch[2 * kPiece];
  const void* gate = at(args.gate, row * args.gate_stride + begin, types.gate);
  const void* up = at(args.up, row * args.up_stride + begin, types.up);
  void* out = at(args.y, row * args.y_stride + begin, types.y);
  float* y = types.y == DType::f32 ? static_cast<float*>(out) : scratch;
  silu_mul_table().row(row_floats(types.gate, gate, scratch, n),
                       row_floats(types.up, up, scratch + kPiece, n), y, n);
  write_floats(types.y, y, out, n);
}

}  // namespace

void silu_mul_cpu(const SiluMulArgs& args, DType gate, DType up, DType y) {
  const Types types = {gate, up, y};
  const std::int64_t pieces = (args.cols + kPiece - 1) / kPiece;
  parallel_for(args.rows * pieces, 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = i / pieces, first = i % pieces * kPiece;
      silu_mul_piece(args, types, row, first, std::min(kPiece, args.cols - first));
    }
  });
}

}  // namespace tilewright
