// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/bench_rows.h"
#include "tilewright/ops/linear/linear.h"
#include "tilewright/ops/linear/linear_cases.h"

namespace tilewright {
namespace {

std::function<void(int, const Stream&)> prepare(const LinearBenchSize& size, int rotations,
                                                const Stream& stream) {
  // What the models keep between layers: float32 on cpu, the weight's or bf16 on a GPU.
  const DType activation = stream.device().is_cpu()     ? DType::f32
                           : is_block_type(size.weight) ? DType::bf16
                                                        : size.weight;
  const auto weights = bench_tensors(rotations, {size.n, size.k}, size.weight, stream);
  const Tensor x = bench_tensors(1, {size.m, size.k}, activation, stream)[0];
  const Tensor y = Tensor::empty({size.m, size.n}, activation, stream);
  return [=](int i, const Stream& s) { linear_into(y, x, weights[std::size_t(i)], {}, s); };
}

BenchCase bench_case(const LinearBenchSize& size) {
  BenchCase one;
  one.op = size.m <= 16 ? "gemv" : "gemm";
  one.variant = size.name;
  one.dtype = name(size.weight);
  one.size = str(size.m, 'x', size.n, 'x', size.k);
  one.bytes = size.bytes();
  one.flops = size.flops();
  one.prepare = [size](int rotations, const Stream& stream) {
    return prepare(size, rotations, stream);
  };
  return one;
}

}  // namespace

// A size is m x n x k: rows of x, rows of the weight, elements of either.
BenchCases linear_bench(const BenchRequest& request) {
  BenchCases cases;
  if (request.sizes.empty()) {
    for (const std::int64_t m : {1, 4, 512}) {
      for (const LinearBenchSize& size : linear_bench_sizes(m, request.device.is_cpu())) {
        for (const DType dtype : dtypes_of(request, {size.weight})) {
          LinearBenchSize one = size;
          one.weight = dtype;
          cases.push_back(bench_case(one));
        }
      }
    }
    return cases;
  }
  for (const std::string& text : request.sizes) {
    const auto n = parse_size(text, 3, "m x n x k");
    for (const DType dtype : dtypes_of(request, {DType::bf16, DType::q8_0, DType::q4_1}))
      cases.push_back(bench_case({"", n[0], n[1], n[2], dtype}));
  }
  return cases;
}

}  // namespace tilewright
