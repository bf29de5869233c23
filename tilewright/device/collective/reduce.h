// SPDX-License-Identifier: Apache-2.0
// Reductions whose result every participant receives. The order of operations depends on the number
// of threads alone.
#pragma once

#include "tilewright/device/core/types.h"

namespace tilewright {

// The identity of ReduceMax.
TW_DEVICE float minus_infinity() { return detail::bits_float(0xff800000u); }

struct ReduceSum {
  template <class T>
  TW_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

// NaN wins, so that it propagates.
struct ReduceMax {
  TW_DEVICE float operator()(float a, float b) const { return a > b || a != a ? a : b; }
};

// Over groups of kLanes neighbouring lanes, a power of two up to 32. All lanes of the warp call it.
template <int kLanes, class T, class Operation>
TW_DEVICE T lanes_reduce(T value, Operation operation) {
  TW_UNROLL
  for (int mask = kLanes / 2; mask > 0; mask /= 2) {
    value = operation(value, __shfl_xor_sync(0xffffffffu, value, mask));
  }
  return value;
}

// Over kThreads threads: a warp's worth or less, or the whole block. Two barriers.
template <int kThreads, class T, class Operation>
TW_DEVICE T threads_reduce(T value, Operation operation) {
  if constexpr (kThreads <= 32) {
    return lanes_reduce<kThreads>(value, operation);
  } else {
    constexpr int kWarps = kThreads / 32;
    __shared__ T partial[kWarps];
    value = lanes_reduce<32>(value, operation);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    value = lanes_reduce<kWarps>(partial[threadIdx.x % kWarps], operation);
    __syncthreads();  // partial may be used again
    return value;
  }
}

template <int kThreads>
TW_DEVICE float threads_sum(float value) {
  return threads_reduce<kThreads>(value, ReduceSum());
}
template <int kThreads>
TW_DEVICE float threads_max(float value) {
  return threads_reduce<kThreads>(value, ReduceMax());
}

}  // namespace tilewright
