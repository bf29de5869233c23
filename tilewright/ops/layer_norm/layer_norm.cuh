// SPDX-License-Identifier: Apache-2.0
// The row stays in registers for the mean, the variance and the result, so each byte is read once
// and written once. Bound: memory.
#pragma once

#include "tilewright/ops/_core/rows.cuh"
#include "tilewright/ops/layer_norm/layer_norm_args.h"

namespace tilewright {

// Sums over the `count` valid elements only: zeros past the end would enter the variance.
TW_DEVICE float sum_of_values(const Floats8& x, int64_t count) {
  float sum = 0;
  TW_UNROLL
  for (int i = 0; i < kVec8; ++i) sum += i < count ? x.value[i] : 0.0f;
  return sum;
}
TW_DEVICE float sum_of_distances(const Floats8& x, float mean, int64_t count) {
  float sum = 0;
  TW_UNROLL
  for (int i = 0; i < kVec8; ++i) {
    const float distance = i < count ? x.value[i] - mean : 0.0f;
    sum += distance * distance;
  }
  return sum;
}

TW_DEVICE Floats8 layer_norm_apply(const Floats8& x, float mean, float scale, const AnyRow& weight,
                                   const AnyRow& bias, int64_t at) {
  Floats8 result = load_at(weight, at);
  TW_UNROLL
  for (int i = 0; i < kVec8; ++i) result.value[i] *= (x.value[i] - mean) * scale;
  if (bias.data != nullptr) {
    const Floats8 shift = load_at(bias, at);
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) result.value[i] += shift.value[i];
  }
  return result;
}

template <class Y, class X, int kLanes, int kVecs>
TW_KERNEL(kRowThreads<kLanes>)
layer_norm_rows(const TW_GRID_CONSTANT LayerNormArgs args) {
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  const auto [index, lane] = row_position<kLanes>();
  if (index >= args.rows) return;
  const Row<const X> x = row_of<X>(args.x, index, args.x_stride, args.cols);
  const Row<Y> y = row_of<Y>(args.y, index, args.y_stride, args.cols);
  const AnyRow weight = any_row(args.weight, 0, 0, args.cols, args.weight_type);
  const AnyRow bias = any_row(args.bias, 0, 0, args.cols, args.bias_type);

  Floats8 held[kVecs > 0 ? kVecs : 1];
  float sum = 0;
  for_row_vectors<kLanes, kVecs>(lane, args.cols, [&](int64_t at, int v) {
    held[v] = load_at(x, at);
    sum += sum_of_values(held[v], args.cols - at);
  });
  const float mean = threads_sum<kLanes>(sum) / float(args.cols);
  float squares = 0;
  for_row_vectors<kLanes, kVecs>(lane, args.cols, [&](int64_t at, int v) {
    if constexpr (kVecs == 0) held[v] = load_at(x, at);
    squares += sum_of_distances(held[v], mean, args.cols - at);
  });
  const float scale = rsqrtf(threads_sum<kLanes>(squares) / float(args.cols) + args.eps);
  for_row_vectors<kLanes, kVecs>(lane, args.cols, [&](int64_t at, int v) {
    if constexpr (kVecs == 0) held[v] = load_at(x, at);
    store_at(y, at, layer_norm_apply(held[v], mean, scale, weight, bias, at));
  });
}

}  // namespace tilewright
