// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/text.h"
#include "tilewright/harness/samples.h"
#include "tilewright/ops/_core/bench_rows.h"
#include "tilewright/ops/_core/blocks.h"

namespace tilewright {
namespace {

// A period of random values is enough: nothing here depends on them.
std::vector<float> values_for(std::int64_t count) {
  constexpr std::int64_t kPeriod = 1 << 20;
  std::vector<float> values = random_floats(std::min(count, kPeriod), 1);
  values.resize(std::size_t(count));
  for (std::int64_t i = kPeriod; i < count; ++i) {
    values[std::size_t(i)] = values[std::size_t(i - kPeriod)];
  }
  return values;
}

Tensor block_tensor(const std::vector<float>& values, const Shape& shape, DType dtype,
                    const Stream& stream) {
  const std::size_t row_bytes = bytes_of(dtype, shape[1]);
  std::vector<std::uint8_t> stored(std::size_t(shape[0]) * row_bytes);
  for (std::int64_t r = 0; r < shape[0]; ++r) {
    quantize_row(dtype, values.data() + r * shape[1], stored.data() + std::size_t(r) * row_bytes,
                 shape[1]);
  }
  return Tensor::from_host(stored.data(), shape, dtype, stream);
}

}  // namespace

std::vector<Tensor> bench_tensors(int rotations, const Shape& shape, DType dtype,
                                  const Stream& stream) {
  const auto values = values_for(element_count(shape));
  std::vector<Tensor> tensors;
  tensors.push_back(is_block_type(dtype) ? block_tensor(values, shape, dtype, stream)
                                         : tensor_of(values, shape, dtype, stream));
  while (int(tensors.size()) < rotations) tensors.push_back(tensors[0].to(stream));
  stream.synchronize();
  return tensors;
}

BenchCases row_bench(const BenchRequest& request, const RowBench& bench) {
  BenchCases cases;
  for (const std::string& size : sizes_of(request, {"1x4096", "16x4096", "4096x4096"})) {
    const auto numbers = parse_size(size, 2, "rows x cols");
    for (const DType dtype : dtypes_of(request, {DType::f32, DType::bf16})) {
      const Shape shape{numbers[0], numbers[1]};
      BenchCase one;
      one.op = bench.op;
      one.variant = bench.variant;
      one.dtype = name(dtype);
      one.size = size;
      one.bytes = bench.tensors * double(bytes_of(dtype, element_count(shape)));
      one.prepare = [prepare = bench.prepare, shape, dtype](int rotations, const Stream& stream) {
        return prepare(rotations, shape, dtype, stream);
      };
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

}  // namespace tilewright
