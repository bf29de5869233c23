// SPDX-License-Identifier: Apache-2.0
// A checked call of linear_into, with the tensors taken apart: what the cpu and the cuda side
// receive. Every field has been validated; strides of x, y and residual are in elements.
#pragma once

#include <cstdint>

#include "tilewright/base/dtype.h"
#include "tilewright/ops/linear/linear_rounding.h"

namespace tilewright {

// A pointer with its element type; data is null when the operand is absent.
struct LinearVector {
  const void* data = nullptr;
  DType dtype = DType::f32;
};

// A weight [rows, k] whose rows are stored as its dtype says, `row_bytes` apart.
struct LinearPart {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::int64_t row_bytes = 0;
};

struct LinearCall {
  static constexpr int kMaxParts = 3;

  LinearPart parts[kMaxParts];
  int part_count = 0;
  std::int64_t m = 0, n = 0, k = 0;  // n: columns of y

  LinearVector x;  // [m, k]
  std::int64_t x_stride = 0;
  void* y = nullptr;  // [m, n]
  DType y_dtype = DType::f32;
  std::int64_t y_stride = 0;

  LinearVector bias;      // [n]; never together with silu_pairs
  LinearVector residual;  // [m, n]; data may equal y (same stride and dtype then)
  std::int64_t residual_stride = 0;
  LinearVector norm_weight;  // [k]
  float norm_eps = 0;
  bool silu_pairs = false;  // two parts (gate, up) of n rows each
  ActivationRounding activations = ActivationRounding::kSixteenBit;  // of the cpu
};

}  // namespace tilewright
