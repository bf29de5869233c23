// SPDX-License-Identifier: Apache-2.0
// The row stays in registers between the sum and the scaling, so each byte is read once and written
// once. Bound: memory.
#pragma once

#include "tilewright/ops/_core/rows.cuh"
#include "tilewright/ops/rms_norm/rms_norm_args.h"

namespace tilewright {

TW_DEVICE float sum_of_squares(const Floats8& x) {
  float sum = 0;
  TW_UNROLL
  for (int i = 0; i < kVec8; ++i) sum += x.value[i] * x.value[i];
  return sum;
}

// One row of the operands of a kernel.
template <class Y, class X, bool kResidual>
struct RmsNormRow {
  Row<const X> x;
  Row<Y> y;
  AnyRow weight, residual;

  TW_DEVICE RmsNormRow(const RmsNormArgs& args, int64_t row)
      : x(row_of<X>(args.x, row, args.x_stride, args.cols)),
        y(row_of<Y>(args.y, row, args.y_stride, args.cols)),
        weight(any_row(args.weight, 0, 0, args.cols, args.weight_type)),
        residual(any_row(args.residual, row, args.residual_stride, args.cols, args.residual_type)) {
  }

  // What is normalised: x, or residual + x.
  TW_DEVICE Floats8 load(int64_t at) const {
    Floats8 value = load_at(x, at);
    if constexpr (kResidual) {
      const Floats8 rest = load_at(residual, at);
      TW_UNROLL
      for (int i = 0; i < kVec8; ++i) value.value[i] += rest.value[i];
    }
    return value;
  }
  TW_DEVICE void store(int64_t at, const Floats8& value, float scale) const {
    if constexpr (kResidual) store_at(residual, at, value);
    Floats8 result = load_at(weight, at);
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) result.value[i] *= value.value[i] * scale;
    store_at(y, at, result);
  }
};

template <class Y, class X, bool kResidual, int kLanes, int kVecs>
TW_KERNEL(kRowThreads<kLanes>)
rms_norm_rows(const TW_GRID_CONSTANT RmsNormArgs args) {
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  const auto [index, lane] = row_position<kLanes>();
  if (index >= args.rows) return;
  const RmsNormRow<Y, X, kResidual> row(args, index);
  Floats8 held[kVecs > 0 ? kVecs : 1];
  float sum = 0;
  for_row_vectors<kLanes, kVecs>(lane, args.cols, [&](int64_t at, int v) {
    held[v] = row.load(at);
    sum += sum_of_squares(held[v]);
  });
  sum = threads_sum<kLanes>(sum);
  const float scale = rsqrtf(sum / float(args.cols) + args.eps);
  for_row_vectors<kLanes, kVecs>(lane, args.cols, [&](int64_t at, int v) {
    // A row too long to hold is read again, before the residual is overwritten.
    row.store(at, kVecs > 0 ? held[v] : row.load(at), scale);
  });
}

}  // namespace tilewright
