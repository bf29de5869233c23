// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/bench_rows.h"
#include "tilewright/ops/silu_mul/silu_mul.h"

namespace tilewright {
namespace {

using Call = std::function<void(int, const Stream&)>;

Call prepare(int rotations, const Shape& shape, DType dtype, const Stream& stream) {
  const auto gate = bench_tensors(rotations, shape, dtype, stream);
  const auto up = bench_tensors(rotations, shape, dtype, stream);
  const auto y = bench_tensors(rotations, shape, dtype, stream);
  return [=](int i, const Stream& s) {
    silu_mul_into(y[std::size_t(i)], gate[std::size_t(i)], up[std::size_t(i)], s);
  };
}

}  // namespace

BenchCases silu_mul_bench(const BenchRequest& request) {
  return row_bench(request, {"silu_mul", "", 3, prepare});
}

}  // namespace tilewright
