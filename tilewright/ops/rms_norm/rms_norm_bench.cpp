// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/bench_rows.h"
#include "tilewright/ops/rms_norm/rms_norm.h"

namespace tilewright {
namespace {

using Call = std::function<void(int, const Stream&)>;

Call prepare(int rotations, const Shape& shape, DType dtype, const Stream& stream) {
  const auto x = bench_tensors(rotations, shape, dtype, stream);
  const auto y = bench_tensors(rotations, shape, dtype, stream);
  const Tensor weight = bench_tensors(1, {shape[1]}, dtype, stream)[0];
  return [=](int i, const Stream& s) {
    rms_norm_into(y[std::size_t(i)], x[std::size_t(i)], weight, 1e-5f, s);
  };
}

Call prepare_add(int rotations, const Shape& shape, DType dtype, const Stream& stream) {
  const auto x = bench_tensors(rotations, shape, dtype, stream);
  const auto residual = bench_tensors(rotations, shape, dtype, stream);
  const auto y = bench_tensors(rotations, shape, dtype, stream);
  const Tensor weight = bench_tensors(1, {shape[1]}, dtype, stream)[0];
  return [=](int i, const Stream& s) {
    const auto at = std::size_t(i);
    add_rms_norm_into(y[at], residual[at], x[at], weight, 1e-5f, s);
  };
}

}  // namespace

BenchCases rms_norm_bench(const BenchRequest& request) {
  BenchCases cases = row_bench(request, {"rms_norm", "", 2, prepare});
  BenchCases more = row_bench(request, {"rms_norm", "add", 4, prepare_add});
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace tilewright
