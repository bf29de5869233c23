// SPDX-License-Identifier: Apache-2.0
// The first largest element of a row that the blocks of a cluster share. A row of a large
// vocabulary is half a megabyte: one multiprocessor would take 7 us to read it from the L2.
#pragma once

#include "tilewright/device/collective/cluster.h"
#include "tilewright/device/core/vec8.h"

namespace tilewright {

inline constexpr int kArgmaxThreads = 1024;

struct ReduceLargest {
  TW_DEVICE uint64_t operator()(uint64_t a, uint64_t b) const { return a > b ? a : b; }
};

// Orders by value, then by the smaller index; NaN above all; 0 below all.
TW_DEVICE uint64_t argmax_rank(float value, int32_t index) {
  const uint32_t bits = detail::float_bits(value + 0.0f);  // -0 equals +0
  const uint32_t key = bits ^ (uint32_t(int32_t(bits) >> 31) | 0x80000000u);
  const uint32_t order = value != value ? 0xffffffffu : key;
  return uint64_t(order) << 32 | uint32_t(~index);
}

// The best of a thread: indices come in rising order, so only a larger value replaces it.
struct ArgmaxState {
  float value = minus_infinity();
  int32_t index = -1;

  TW_DEVICE void offer(float candidate, int32_t at) {
    const bool better = candidate > value || (candidate != candidate && value == value);
    if (better || index < 0) {
      value = candidate;
      index = at;
    }
  }
  TW_DEVICE uint64_t rank() const { return index < 0 ? 0 : argmax_rank(value, index); }
};

template <int kCluster, class X>
TW_DEVICE int32_t row_argmax(const X* row, int32_t cols) {
  const bool aligned = aligned16(row);
  const int64_t first = cluster_rank<kCluster>() * kArgmaxThreads + int64_t(threadIdx.x);
  ArgmaxState best;
  for (int64_t at = first * kVec8; at < cols; at += kCluster * kArgmaxThreads * kVec8) {
    const Vec8<float> x = load8(row + at, cols - at, aligned, minus_infinity());
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) {
      if (at + i < cols) best.offer(x.value[i], int32_t(at) + i);
    }
  }
  const uint64_t rank = cluster_reduce<kArgmaxThreads, kCluster>(best.rank(), ReduceLargest());
  return int32_t(~uint32_t(rank));
}

}  // namespace tilewright
