// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/add/add_cpu.h"

#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/pointwise.h"
#include "tilewright/ops/_core/strided.h"

namespace tilewright {
namespace {

struct Steps {
  std::int64_t y, a, b;
};

// Wraps, as two's complement does.
void add_integers(const AddArgs& args, const std::array<std::int64_t, 3>& offsets,
                  const Steps& steps, std::int64_t n) {
  auto* y = static_cast<std::int32_t*>(args.y) + offsets[0];
  const auto* a = static_cast<const std::int32_t*>(args.a) + offsets[1];
  const auto* b = static_cast<const std::int32_t*>(args.b) + offsets[2];
  for (std::int64_t i = 0; i < n; ++i) {
    y[i * steps.y] = std::int32_t(std::uint32_t(a[i * steps.a]) + std::uint32_t(b[i * steps.b]));
  }
}

}  // namespace

void add_cpu(const AddArgs& args, DType a, DType b, DType y) {
  const int last = args.layout.rank - 1;
  const Steps steps = {args.layout.strides[0][last], args.layout.strides[1][last],
                       args.layout.strides[2][last]};
  parallel_for(args.layout.count, 8 * kStridedPiece, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) float left[kStridedPiece], right[kStridedPiece];
    for_each_run(args.layout, begin, end, kStridedPiece, [&](const auto& offsets, std::int64_t n) {
      if (y == DType::i32) return add_integers(args, offsets, steps, n);
      read_strided(a, args.a, offsets[1], steps.a, left, n);
      read_strided(b, args.b, offsets[2], steps.b, right, n);
      for (std::int64_t i = 0; i < n; ++i) left[i] += right[i];
      write_strided(y, left, args.y, offsets[0], steps.y, n);
    });
  });
}

}  // namespace tilewright
