// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/bench_rows.h"
#include "tilewright/ops/add/add.h"

namespace tilewright {
namespace {

using Call = std::function<void(int, const Stream&)>;

Call prepare(int rotations, const Shape& shape, DType dtype, const Stream& stream) {
  const auto a = bench_tensors(rotations, shape, dtype, stream);
  const auto b = bench_tensors(rotations, shape, dtype, stream);
  const auto y = bench_tensors(rotations, shape, dtype, stream);
  return [=](int i, const Stream& s) {
    add_into(y[std::size_t(i)], a[std::size_t(i)], b[std::size_t(i)], s);
  };
}

}  // namespace

BenchCases add_bench(const BenchRequest& request) {
  return row_bench(request, {"add", "", 3, prepare});
}

}  // namespace tilewright
