// SPDX-License-Identifier: Apache-2.0
// Operands and cases of benches, for *_bench.cpp.
#pragma once

#include "tilewright/harness/bench.h"

namespace tilewright {

// One tensor a rotation, with the same random values in [-1, 1); block types in plain quantisation.
std::vector<Tensor> bench_tensors(int rotations, const Shape& shape, DType dtype,
                                  const Stream& stream);

// An op on [rows, cols] tensors of one dtype.
struct RowBench {
  const char* op;
  const char* variant;
  double tensors;  // how many [rows, cols] tensors are read or written
  std::function<void(int, const Stream&)> (*prepare)(int rotations, const Shape& shape, DType dtype,
                                                     const Stream& stream);
};
// Sizes "rows x cols"; the op's own are one row, few rows and many.
BenchCases row_bench(const BenchRequest& request, const RowBench& bench);

}  // namespace tilewright
