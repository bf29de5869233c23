// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/bench_rows.h"
#include "tilewright/ops/softmax/softmax.h"

namespace tilewright {
namespace {

using Call = std::function<void(int, const Stream&)>;

Call prepare(int rotations, const Shape& shape, DType dtype, const Stream& stream) {
  const auto x = bench_tensors(rotations, shape, dtype, stream);
  const auto y = bench_tensors(rotations, shape, dtype, stream);
  return [=](int i, const Stream& s) { softmax_into(y[std::size_t(i)], x[std::size_t(i)], s); };
}

}  // namespace

BenchCases softmax_bench(const BenchRequest& request) {
  return row_bench(request, {"softmax", "", 2, prepare});
}

}  // namespace tilewright
