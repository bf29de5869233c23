// SPDX-License-Identifier: Apache-2.0
// Few rows of x times a weight, for every architecture, alignment and stride: a warp takes one row
// of the weight (two with silu_pairs) and kRows rows of x at once. Bound: memory.
#pragma once

#include "tilewright/device/collective/reduce.h"
#include "tilewright/device/ptx/griddepcontrol.h"
#include "tilewright/ops/linear/linear_formats.cuh"
#include "tilewright/ops/linear/linear_operands.cuh"

namespace tilewright {

inline constexpr int kRowsThreads = 256;

template <class Format, int kRows>
struct RowProduct {
  const LinearArgs& args;
  int lane;
  int64_t first;  // row of x
  bool x_aligned;

  TW_DEVICE void run(const char* weight, const float* scale, float (&sum)[kRows]) const {
    const bool aligned = (reinterpret_cast<uint64_t>(weight) & 15u) == 0;
    TW_UNROLL
    for (int i = 0; i < kRows; ++i) sum[i] = 0;
    _Pragma("unroll 1") for (int64_t k = lane * 8; k < args.k; k += 256) {
      float w[8];
      Format::load8(weight, k, args.k - k, aligned, w);
      if (args.norm_weight != nullptr) {
        float norm[8];
        load8_any(args.norm_weight, args.norm_type, k, args.k - k, false, norm);
        TW_UNROLL
        for (int i = 0; i < 8; ++i) w[i] *= norm[i];
      }
      TW_UNROLL
      for (int row = 0; row < kRows; ++row) {
        float x[8];
        load8_any(args.x, args.x_type,
                  (first + row < args.m ? first + row : first) * args.x_stride + k, args.k - k,
                  x_aligned, x);
        TW_UNROLL
        for (int i = 0; i < 8; ++i) sum[row] += x[i] * w[i];
      }
    }
    TW_UNROLL
    for (int row = 0; row < kRows; ++row) {
      sum[row] = lanes_reduce<32>(sum[row], ReduceSum());
      if (args.norm_weight != nullptr) sum[row] *= scale[row];
    }
  }
};

template <class Format, int kRows>
TW_KERNEL(kRowsThreads)
linear_rows(const TW_GRID_CONSTANT LinearArgs args) {
  __shared__ float scale[kRows];
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int64_t first = int64_t(blockIdx.y) * kRows;
  const RowProduct<Format, kRows> product = {args, lane, first,
                                             rows_aligned(args.x, args.x_type, args.x_stride)};
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  if (args.norm_weight != nullptr) {
    for (int row = 0; row < kRows && first + row < args.m; ++row) {
      float square_sum = 0;
      for (int64_t k = threadIdx.x; k < args.k; k += kRowsThreads) {
        const float value = load_any(args.x, args.x_type, (first + row) * args.x_stride + k);
        square_sum += value * value;
      }
      square_sum = threads_sum<kRowsThreads>(square_sum);
      if (threadIdx.x == 0) scale[row] = rsqrtf(square_sum / float(args.k) + args.norm_eps);
    }
    __syncthreads();
  }
  const int64_t column = int64_t(blockIdx.x) * (kRowsThreads / 32) + warp;
  if (column >= args.rows) return;
  float sum[kRows], second[kRows];
  product.run(args.silu_pairs ? pair_row(args, column, 0) : weight_row(args, column), scale, sum);
  if (args.silu_pairs) {
    product.run(pair_row(args, column, 1), scale, second);
    TW_UNROLL
    for (int row = 0; row < kRows; ++row) sum[row] = silu(sum[row]) * second[row];
  }
  TW_UNROLL
  for (int row = 0; row < kRows; ++row) {
    if (lane == row && first + row < args.m) finish(args, first + row, column, sum[row]);
  }
}

}  // namespace tilewright
