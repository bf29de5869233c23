// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "tilewright/ops/linear/linear_rounding.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

struct LinearOptions {
  Tensor bias{};         // [N] f32, f16 or bf16, or undefined
  Tensor residual{};     // [M, N], added to the result; may be y itself
  Tensor norm_weight{};  // [K]: x is rms-normalised with it first (fused for few rows)
  float norm_eps = 0;
  bool silu_pairs = false;  // two weights of equal shape: y = silu(x·gate^T) * (x·up^T)
  ActivationRounding activations = ActivationRounding::kSixteenBit;
};

// y[m, n] = sum_k x[m, k] * w[n, k] (+ bias[n] + residual[m, n]), accumulated in float32.
//   x        [M, K], f32, f16 or bf16, last axis contiguous
//   weights  one to three tensors [N_i, K] whose rows follow each other in y: f32, f16, bf16, or
//            q8_0, q4_0, q4_1, q6_K blocks read as stored; last axis contiguous. They may differ
//            in dtype and in rows.
//   y        [M, N], N the sum of N_i (half of it with silu_pairs), f32, f16 or bf16
// M, N, K may be 0 (K = 0 gives bias + residual). Few rows (M <= 16) run bandwidth-bound kernels of
// ours; more rows use tensor cores through cuBLASLt when it is there, else our own kernel.
// On cpu, block weights are multiplied as integers against x rounded as `activations` says.
// Throws InvalidArgument for dtype, shape, stride or device.
void linear_into(const Tensor& y, const Tensor& x, std::span<const Tensor> weights,
                 const LinearOptions& options, const Stream& stream);
void linear_into(const Tensor& y, const Tensor& x, const Tensor& weight,
                 const LinearOptions& options, const Stream& stream);

}  // namespace tilewright
