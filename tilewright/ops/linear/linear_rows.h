// SPDX-License-Identifier: Apache-2.0
// Of linear on the cpu: the rows of x as its kernels read them, and what happens to a tile of
// products on its way to y.
#pragma once

#include "tilewright/ops/linear/linear_call.h"
#include "tilewright/ops/linear/linear_tables.h"

namespace tilewright {

LinearBlockFormat linear_block_format(DType dtype);
LinearPlainFormat linear_plain_format(DType dtype);
std::int64_t linear_row_bytes(DType dtype, std::int64_t k);

// Tokens [first, first + tokens) of x, normalised when the call says so: as floats for plain
// weights, rounded for block weights. In this thread's scratch until its next call.
struct LinearRows {
  std::int64_t first = 0, tokens = 0;
  const float* plain = nullptr;
  std::int64_t plain_stride = 0;
  RoundedX rounded;
};

// How many tokens to prepare together: what the second-level cache holds.
std::int64_t linear_tokens_at_once(const LinearCall& call);
LinearRows prepare_linear_rows(const LinearCall& call, std::int64_t first, std::int64_t tokens);

// y[first + t, column + r] = out[t * 16 + r] + bias + residual, r < columns.
void finish_linear(const LinearCall& call, std::int64_t first, std::int64_t tokens,
                   std::int64_t column, std::int64_t columns, float* out);

}  // namespace tilewright
