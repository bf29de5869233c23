// SPDX-License-Identifier: Apache-2.0
// Any number of rows, every format: 64 x 64 tiles of y through shared memory, float32 arithmetic.
// The plain kernel that is right everywhere; large products go to tensor cores elsewhere.
#pragma once

#include "tilewright/device/ptx/griddepcontrol.h"
#include "tilewright/ops/linear/linear_formats.cuh"
#include "tilewright/ops/linear/linear_operands.cuh"

namespace tilewright {

inline constexpr int kTile = 64, kTileDepth = 32, kTileThreads = 256;

template <class Format>
TW_KERNEL(kTileThreads)
linear_tiles(const TW_GRID_CONSTANT LinearArgs args) {
  __shared__ float x_tile[kTileDepth][kTile + 4];
  __shared__ float w_tile[kTileDepth][kTile + 4];
  const int thread = int(threadIdx.x), line = thread / 4, depth = thread % 4 * 8;
  const int64_t first_row = int64_t(blockIdx.y) * kTile, first_column = int64_t(blockIdx.x) * kTile;
  const int64_t x_row = first_row + line, column = first_column + line;
  const char* weight = column < args.rows ? weight_row(args, column) : nullptr;
  const bool x_aligned = rows_aligned(args.x, args.x_type, args.x_stride);
  const bool w_aligned = (reinterpret_cast<uint64_t>(weight) & 15u) == 0;
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();

  float sum[4][4] = {};
  for (int64_t k = 0; k < args.k; k += kTileDepth) {
    const int64_t at = k + depth, left = args.k - at;
    float x[8] = {}, w[8] = {};
    if (x_row < args.m && left > 0) {
      load8_any(args.x, args.x_type, x_row * args.x_stride + at, left, x_aligned, x);
    }
    if (weight != nullptr && left > 0) Format::load8(weight, at, left, w_aligned, w);
    __syncthreads();
    TW_UNROLL
    for (int i = 0; i < 8; ++i) {
      x_tile[depth + i][line] = x[i];
      w_tile[depth + i][line] = w[i];
    }
    __syncthreads();
    TW_UNROLL
    for (int d = 0; d < kTileDepth; ++d) {
      const float4 xs = *reinterpret_cast<const float4*>(&x_tile[d][thread / 16 * 4]);
      const float4 ws = *reinterpret_cast<const float4*>(&w_tile[d][thread % 16 * 4]);
      const float xv[4] = {xs.x, xs.y, xs.z, xs.w}, wv[4] = {ws.x, ws.y, ws.z, ws.w};
      TW_UNROLL
      for (int i = 0; i < 4; ++i) {
        TW_UNROLL
        for (int j = 0; j < 4; ++j) sum[i][j] += xv[i] * wv[j];
      }
    }
  }
  TW_UNROLL
  for (int i = 0; i < 4; ++i) {
    TW_UNROLL
    for (int j = 0; j < 4; ++j) {
      const int64_t m = first_row + thread / 16 * 4 + i;
      const int64_t n = first_column + thread % 16 * 4 + j;
      if (m < args.m && n < args.rows) finish(args, m, n, sum[i][j]);
    }
  }
}

// Writes the weight as T, [rows, k] without gaps: y of the arguments, one block a row and 2048
// elements.
template <class Format, class T>
TW_KERNEL(kTileThreads)
linear_expand(const TW_GRID_CONSTANT LinearArgs args) {
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  const int64_t row = blockIdx.x, k = (int64_t(blockIdx.y) * kTileThreads + threadIdx.x) * 8;
  if (k >= args.k) return;
  float value[8];
  Format::load8(weight_row(args, row), k, args.k - k, false, value);
  T* target = static_cast<T*>(args.y) + row * args.k + k;
  TW_UNROLL
  for (int i = 0; i < 8; ++i) {
    if (k + i < args.k) target[i] = from_float<T>(value[i]);
  }
}

}  // namespace tilewright
