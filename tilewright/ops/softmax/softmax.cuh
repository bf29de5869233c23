// SPDX-License-Identifier: Apache-2.0
// Rows that fit stay in registers: read once, written once. Longer rows are read twice, for the
// maximum and the sum together (rescaled as the maximum grows), then for the result. Bound: memory.
#pragma once

#include "tilewright/ops/_core/rows.cuh"
#include "tilewright/ops/softmax/softmax_args.h"

namespace tilewright {

// A maximum and the sum of exp(x - maximum) over what was seen.
struct SoftmaxState {
  float maximum = minus_infinity(), sum = 0;
};

// What to subtract: exp(-inf - -inf) must be 0, not NaN.
TW_DEVICE float softmax_origin(float maximum) {
  return maximum == minus_infinity() ? 0.0f : maximum;
}

TW_DEVICE float max8(const Floats8& x) {
  float maximum = x.value[0];
  TW_UNROLL
  for (int i = 1; i < kVec8; ++i) maximum = ReduceMax()(maximum, x.value[i]);
  return maximum;
}

TW_DEVICE float sum_of_exponentials(const Floats8& x, float origin) {
  float sum = 0;
  TW_UNROLL
  for (int i = 0; i < kVec8; ++i) sum += expf(x.value[i] - origin);
  return sum;
}

TW_DEVICE Floats8 softmax_apply(const Floats8& x, float origin, float scale) {
  Floats8 y;
  TW_UNROLL
  for (int i = 0; i < kVec8; ++i) y.value[i] = expf(x.value[i] - origin) * scale;
  return y;
}

// 1 / sum; a row of -inf has sum 0 and becomes 0.
TW_DEVICE float softmax_scale(float sum) { return sum == 0.0f ? 0.0f : 1.0f / sum; }

template <class Y, class X, int kLanes, int kVecs>
TW_KERNEL(kRowThreads<kLanes>)
softmax_rows(const TW_GRID_CONSTANT SoftmaxArgs args) {
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  const auto [index, lane] = row_position<kLanes>();
  if (index >= args.rows) return;
  const Row<const X> x = row_of<X>(args.x, index, args.x_stride, args.cols);
  const Row<Y> y = row_of<Y>(args.y, index, args.y_stride, args.cols);

  Floats8 held[kVecs > 0 ? kVecs : 1];
  SoftmaxState state;
  for_row_vectors<kLanes, kVecs>(lane, args.cols, [&](int64_t at, int v) {
    held[v] = load_at(x, at, minus_infinity());
    const float maximum = ReduceMax()(state.maximum, max8(held[v]));
    if constexpr (kVecs == 0) {
      const float origin = softmax_origin(maximum);
      state.sum = state.sum * expf(state.maximum - origin) + sum_of_exponentials(held[v], origin);
    }
    state.maximum = maximum;
  });
  const float origin = softmax_origin(threads_max<kLanes>(state.maximum));
  if constexpr (kVecs > 0) {
    for_row_vectors<kLanes, kVecs>(lane, args.cols, [&](int64_t, int v) {
      held[v] = softmax_apply(held[v], origin, 1.0f);
      TW_UNROLL
      for (int i = 0; i < kVec8; ++i) state.sum += held[v].value[i];
    });
  } else {
    state.sum *= expf(state.maximum - origin);
  }
  const float scale = softmax_scale(threads_sum<kLanes>(state.sum));
  for_row_vectors<kLanes, kVecs>(lane, args.cols, [&](int64_t at, int v) {
    if constexpr (kVecs > 0) {
      TW_UNROLL
      for (int i = 0; i < kVec8; ++i) held[v].value[i] *= scale;
    } else {
      held[v] = softmax_apply(load_at(x, at, minus_infinity()), origin, scale);
    }
    store_at(y, at, held[v]);
  });
}

}  // namespace tilewright
