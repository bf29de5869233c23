// SPDX-License-Identifier: Apache-2.0
// Shared by the .cpp files of linear on cuda.
#pragma once

#include "tilewright/ops/linear/linear_config.h"
#include "tilewright/runtime/stream.h"

namespace tilewright {

LinearGpu linear_gpu(const Stream& stream);
// Parts first … first + count - 1, whose first column of y is `column`.
LinearArgs linear_args(const LinearCall& call, int first, int count, std::int64_t column);
void launch_rows(const LinearArgs& args, DType weight, const LinearGpu& gpu, const Stream& stream);
// args are such that direct_possible().
void launch_direct(const LinearArgs& args, DType weight, const LinearGpu& gpu,
                   const Stream& stream);
void launch_tiles(const LinearArgs& args, DType weight, const Stream& stream);
// Writes a part as f16 or bf16, [rows, k] without gaps.
void launch_expand(const LinearPart& part, std::int64_t k, void* target, DType to,
                   const Stream& stream);

// linear_many_rows.cpp: any number of rows, every option.
void many_rows(const LinearCall& call, const Stream& stream);

// linear_cublaslt.cpp. d[m, n] = sum_k x[m, k] * w[n, k] + beta * c[m, n], strides in elements;
// x and w share a dtype, c and d another.
struct LibraryProduct {
  const void *x, *w, *c;
  void* d;
  std::int64_t m, n, k, x_stride, w_stride, c_stride, d_stride;
  DType in, out;
  float beta;
};
// Whether cuBLASLt was found.
bool library_ready();
// False when the library is missing or has no kernel for it; nothing was launched then.
bool library_product(const LibraryProduct& product, const Stream& stream);

}  // namespace tilewright
