// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/bench_rows.h"
#include "tilewright/ops/layer_norm/layer_norm.h"

namespace tilewright {
namespace {

using Call = std::function<void(int, const Stream&)>;

Call prepare(int rotations, const Shape& shape, DType dtype, const Stream& stream) {
  const auto x = bench_tensors(rotations, shape, dtype, stream);
  const auto y = bench_tensors(rotations, shape, dtype, stream);
  const Tensor weight = bench_tensors(1, {shape[1]}, dtype, stream)[0];
  return [=](int i, const Stream& s) {
    layer_norm_into(y[std::size_t(i)], x[std::size_t(i)], weight, weight, 1e-5f, s);
  };
}

}  // namespace

BenchCases layer_norm_bench(const BenchRequest& request) {
  return row_bench(request, {"layer_norm", "", 2, prepare});
}

}  // namespace tilewright
