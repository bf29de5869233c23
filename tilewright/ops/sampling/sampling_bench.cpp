// SPDX-License-Identifier: Apache-2.0
#include "tilewright/harness/samples.h"
#include "tilewright/ops/_core/bench_rows.h"
#include "tilewright/ops/sampling/sampling.h"

namespace tilewright {
namespace {

BenchCase bench_case(const std::string& size, std::int64_t rows, std::int64_t vocab,
                     const char* variant, const SamplingParams& params) {
  BenchCase one;
  one.op = "sampling";
  one.variant = variant;
  one.dtype = "f32";
  one.size = size;
  one.bytes = double(rows * vocab) * 4;
  one.prepare = [=](int rotations,
                    const Stream& stream) -> std::function<void(int, const Stream&)> {
    const auto logits = bench_tensors(rotations, {rows, vocab}, DType::f32, stream);
    const std::vector<SamplingParams> all(std::size_t(rows), params);
    const Tensor stored = Tensor::from_host(
        all.data(), {rows * std::int64_t(sizeof(SamplingParams))}, DType::u8, stream);
    const Tensor positions = Tensor::zeros({rows}, DType::i32, stream);
    const Tensor tokens = Tensor::zeros({rows}, DType::i32, stream);
    return [=](int i, const Stream& s) {
      sample_into(tokens, logits[std::size_t(i)], stored, positions, s);
    };
  };
  return one;
}

}  // namespace

BenchCases sampling_bench(const BenchRequest& request) {
  BenchCases cases;
  for (const std::string& size : sizes_of(request, {"1x49152", "16x128256"})) {
    const auto n = parse_size(size, 2, "rows x vocab");
    cases.push_back(bench_case(size, n[0], n[1], "greedy", {1, 0, 1, 0, 0}));
    cases.push_back(bench_case(size, n[0], n[1], "all", {1, 1, 1, 0, 0}));
    cases.push_back(bench_case(size, n[0], n[1], "top_k=40,top_p=0.9", {1, 0.8f, 0.9f, 0, 40}));
    cases.push_back(bench_case(size, n[0], n[1], "top_p=0.9", {1, 0.8f, 0.9f, 0, 0}));
  }
  return cases;
}

}  // namespace tilewright
