// SPDX-License-Identifier: Apache-2.0
// Thresholds of top-k and top-p without a sort. The cluster searches for the largest key T whose
// tail, the keys at and above it, weighs at least a target: each step tries three pivots between
// what is known to weigh enough and what is known not to, and ends when one key is left between.
// Pivots only steer the search; sums are of integers, so the result has no rounding and no order.
#pragma once

#include "tilewright/device/collective/cluster.h"
#include "tilewright/device/core/vec8.h"
#include "tilewright/ops/sampling/sampling_math.h"

namespace tilewright {

inline constexpr int kSamplingThreads = 1024;
inline constexpr int kPivots = 3;

// A row as the cluster reads it: thread by thread, four tokens at a time (they share a counter of
// the noise). The second and later passes find it in the L1.
template <int kCluster>
struct SamplingRow {
  const float* logits;
  int32_t vocab;
  bool aligned;
  float maximum, inverse_temperature;

  // Calls work(first, logits, count) for this thread's groups of four; count is under 4 at the end
  // of the row.
  template <class Work>
  TW_DEVICE void for_each_four(Work work) const {
    const int64_t begin = int64_t(cluster_rank<kCluster>()) * kSamplingThreads + threadIdx.x;
    TW_NO_UNROLL
    for (int64_t at = begin * 4; at < vocab; at += kCluster * kSamplingThreads * 4) {
      const int count = vocab - at < 4 ? int(vocab - at) : 4;
      Raw16 four = {};
      if (aligned && count == 4) {
        four = *reinterpret_cast<const Raw16*>(logits + at);
      } else {
        TW_UNROLL
        for (int i = 0; i < 4; ++i) {
          if (i < count) four.word[i] = detail::float_bits(logits[at + i]);
        }
      }
      work(int32_t(at), four, count);
    }
  }
  template <class Work>
  TW_DEVICE void for_each(Work work) const {
    for_each_four([&](int32_t, const Raw16& four, int count) {
      TW_UNROLL
      for (int i = 0; i < 4; ++i) {
        if (i < count) work(detail::bits_float(four.word[i]));
      }
    });
  }
  TW_DEVICE float scaled(float logit) const {
    return sampling_scaled(logit, maximum, inverse_temperature);
  }
  TW_DEVICE uint64_t weight(float logit) const {
    return sampling_weight(sampling_probability(scaled(logit)));
  }
};

// Sums over the cluster in place. `memory` alternates between two buffers, so that one barrier a
// call is enough; the kernel ends with a cluster barrier.
template <int kValues>
struct ClusterSumMemory {
  uint64_t warps[kSamplingThreads / 32][kValues];
  uint64_t block[2][kValues];
};
template <int kCluster, int kValues>
TW_DEVICE void cluster_sum(uint64_t (&values)[kValues], ClusterSumMemory<kValues>& memory,
                           int& turn) {
  constexpr int kWarps = kSamplingThreads / 32;
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  TW_UNROLL
  for (int v = 0; v < kValues; ++v) {
    const uint64_t sum = lanes_reduce<32>(values[v], ReduceSum());
    if (lane == 0) memory.warps[warp][v] = sum;
  }
  __syncthreads();
  turn ^= 1;
  if (warp < kValues) {
    const uint64_t sum = lanes_reduce<kWarps>(memory.warps[lane][warp], ReduceSum());
    if (lane == 0) memory.block[turn][warp] = sum;
  }
  cluster_barrier<kCluster>();
  TW_UNROLL
  for (int v = 0; v < kValues; ++v) {
    values[v] = 0;
    if constexpr (kCluster == 1) {
      values[v] = memory.block[turn][v];
    } else {
      TW_UNROLL
      for (int rank = 0; rank < kCluster; ++rank) {
        values[v] += *ptx::mapa(&memory.block[turn][v], rank);
      }
    }
  }
}

// What is known: the tail of `low` weighs enough, that of `high` does not.
struct ThresholdSearch {
  uint32_t low, high;
  uint64_t low_count, high_count;  // keys in the tails
  uint64_t high_weight;
  int step;
};

TW_DEVICE float value_of_key(uint32_t key) {
  return detail::bits_float(key & 0x80000000u ? key ^ 0x80000000u : ~key);
}

// Rising pivots inside (low, high): even in value; at first, while low is unbounded, ever further
// below the maximum; even in keys when that has not ended the search.
TW_DEVICE void choose_pivots(const ThresholdSearch& search, float maximum,
                             uint32_t (&pivots)[kPivots]) {
  const float low = value_of_key(search.low), high = value_of_key(search.high);
  const bool bounded = low > -1e30f && high < 1e30f;
  const float reach = exact_float((127u + 4u + 6u * uint32_t(search.step)) << 23);  // 16 * 64^step
  TW_UNROLL
  for (int i = 0; i < kPivots; ++i) {
    const float even = low + (high - low) * (0.25f * float(i + 1));
    const float below = maximum - reach * (i == 0 ? 1.0f : i == 1 ? 0.25f : 0.0625f);
    const float value = bounded ? even : below;
    const uint32_t in_keys =
        search.low + uint32_t(uint64_t(search.high - search.low) * uint32_t(i + 1) / 4);
    const bool by_value = search.step < (bounded ? 12 : 4) && value > -1e30f && value < 1e30f;
    uint32_t pivot = by_value ? sampling_key(value) : in_keys;
    pivot = pivot < search.high ? pivot : search.high - 1;
    pivots[i] = pivot > search.low ? pivot : search.low + 1;
  }
}

// Takes in the weights and counts of the pivots' tails.
TW_DEVICE void narrow(ThresholdSearch& search, const uint32_t (&pivots)[kPivots],
                      const uint64_t (&sums)[2 * kPivots], uint64_t target) {
  ++search.step;
  TW_UNROLL
  for (int i = 0; i < kPivots; ++i) {
    if (sums[i] >= target) {
      search.low = pivots[i];
      search.low_count = sums[kPivots + i];
    }
  }
  TW_UNROLL
  for (int i = kPivots - 1; i >= 0; --i) {
    if (sums[i] < target) {
      search.high = pivots[i];
      search.high_count = sums[kPivots + i];
      search.high_weight = sums[i];
    }
  }
}

using ThresholdMemory = ClusterSumMemory<2 * kPivots>;

// A key whose tail among the keys >= floor is the smallest that weighs at least `target`; the tail
// of `floor` does, and it holds `count` keys. weigh(logit) is the weight of a token.
template <int kCluster, class Weigh>
TW_DEVICE uint32_t find_threshold(const SamplingRow<kCluster>& row, uint32_t floor, uint64_t count,
                                  uint64_t target, Weigh weigh, ThresholdMemory& memory,
                                  int& turn) {
  ThresholdSearch search = {floor, sampling_key(row.maximum) + 1, count, 0, 0, 0};
  while (search.high - search.low > 1 && search.low_count - search.high_count > 1) {
    uint32_t pivots[kPivots];
    choose_pivots(search, row.maximum, pivots);
    uint64_t sums[2 * kPivots] = {};
    row.for_each([&](float logit) {
      const uint32_t key = sampling_key(logit);
      if (key < pivots[0] || key >= search.high) return;
      const uint64_t weight = weigh(logit);
      TW_UNROLL
      for (int i = 0; i < kPivots; ++i) {
        sums[i] += key >= pivots[i] ? weight : 0;
        sums[kPivots + i] += key >= pivots[i] ? 1 : 0;
      }
    });
    cluster_sum<kCluster>(sums, memory, turn);
    TW_UNROLL
    for (int i = 0; i < kPivots; ++i) {
      sums[i] += search.high_weight;
      sums[kPivots + i] += search.high_count;
    }
    narrow(search, pivots, sums, target);
  }
  return search.low;
}

}  // namespace tilewright
