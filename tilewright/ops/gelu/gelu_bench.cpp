// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/bench_rows.h"
#include "tilewright/ops/gelu/gelu.h"

namespace tilewright {
namespace {

using Call = std::function<void(int, const Stream&)>;

template <GeluForm kForm>
Call prepare(int rotations, const Shape& shape, DType dtype, const Stream& stream) {
  const auto x = bench_tensors(rotations, shape, dtype, stream);
  const auto y = bench_tensors(rotations, shape, dtype, stream);
  return [=](int i, const Stream& s) { gelu_into(y[std::size_t(i)], x[std::size_t(i)], kForm, s); };
}

}  // namespace

BenchCases gelu_bench(const BenchRequest& request) {
  BenchCases cases = row_bench(request, {"gelu", "erf", 2, prepare<GeluForm::kErf>});
  BenchCases more = row_bench(request, {"gelu", "tanh", 2, prepare<GeluForm::kTanh>});
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace tilewright
