// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/bench_rows.h"
#include "tilewright/ops/argmax/argmax.h"

namespace tilewright {
namespace {

using Call = std::function<void(int, const Stream&)>;

Call prepare(int rotations, const Shape& shape, DType dtype, const Stream& stream) {
  const auto x = bench_tensors(rotations, shape, dtype, stream);
  const Tensor indices = Tensor::zeros({shape[0]}, DType::i32, stream);
  return [=](int i, const Stream& s) { argmax_into(indices, x[std::size_t(i)], s); };
}

}  // namespace

BenchCases argmax_bench(const BenchRequest& request) {
  return row_bench(request, {"argmax", "", 1, prepare});
}

}  // namespace tilewright
