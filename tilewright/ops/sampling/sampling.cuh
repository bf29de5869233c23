// SPDX-License-Identifier: Apache-2.0
// One cluster a row; sampling_math.h has the definition. A greedy row costs what argmax costs.
// Bound: the first read of the logits, then latency.
#pragma once

#include "tilewright/device/ptx/griddepcontrol.h"
#include "tilewright/ops/_core/row_argmax.cuh"
#include "tilewright/ops/sampling/sampling_threshold.cuh"

namespace tilewright {

// The smallest key that top-k and top-p keep.
template <int kCluster>
TW_DEVICE uint32_t filter_threshold(const SamplingRow<kCluster>& row, const SamplingParams& params,
                                    ThresholdMemory& memory, int& turn) {
  uint32_t threshold = 0;
  uint64_t count = uint64_t(row.vocab);
  if (params.top_k > 0 && params.top_k < row.vocab) {
    threshold = find_threshold(
        row, 0u, count, uint64_t(params.top_k), [](float) { return uint64_t(1); }, memory, turn);
  }
  if (!(params.top_p < 1.0f)) return threshold;
  uint64_t sums[2 * kPivots] = {};
  row.for_each([&](float logit) {
    if (sampling_key(logit) < threshold) return;
    sums[0] += row.weight(logit);
    sums[1] += 1;
  });
  cluster_sum<kCluster>(sums, memory, turn);
  return find_threshold(
      row, threshold, sums[1], sampling_top_p_target(params.top_p, sums[0]),
      [&](float logit) { return row.weight(logit); }, memory, turn);
}

// This thread's best of what the filters keep, as argmax_rank; 0 when it keeps none.
template <int kCluster>
TW_DEVICE uint64_t best_draw(const SamplingRow<kCluster>& row, const SamplingParams& params,
                             int32_t position, uint32_t threshold) {
  ArgmaxState best;
  row.for_each_four([&](int32_t first, const Raw16& four, int count) {
    float scaled[4];
    bool kept[4], any = false;
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      const float logit = detail::bits_float(four.word[i]);
      scaled[i] = row.scaled(logit);
      kept[i] = i < count && sampling_key(logit) >= threshold;
      if (params.min_p > 0 && !(sampling_probability(scaled[i]) >= params.min_p)) kept[i] = false;
      any = any || kept[i];
    }
    if (!any) return;
    const Philox4 noise = sampling_noise(params.seed, position, uint32_t(first / 4));
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (kept[i]) best.offer(scaled[i] + gumbel(noise.word[i]), first + i);
    }
  });
  return best.rank();
}

template <int kCluster>
TW_KERNEL(kSamplingThreads)
sample_rows(const TW_GRID_CONSTANT SamplingArgs args) {
  __shared__ ThresholdMemory memory;
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  const int64_t index = blockIdx.x / kCluster;
  const float* logits = args.logits + index * args.logits_stride;
  const SamplingParams params = args.params[index];
  const int32_t first = row_argmax<kCluster>(logits, args.vocab);
  const bool writes = cluster_rank<kCluster>() == 0 && threadIdx.x == 0;
  if (sampling_is_greedy(params)) {  // before the read of the maximum, which is one more trip
    if (writes) args.tokens[index] = first;
    return;
  }
  const float maximum = logits[first];
  const bool finite = maximum - maximum == 0.0f;
  if (!finite) {
    if (writes) args.tokens[index] = first;
    return;
  }
  const SamplingRow<kCluster> row = {logits, args.vocab, aligned16(logits), maximum,
                                     sampling_inverse_temperature(params.temperature)};
  int turn = 0;
  const uint32_t threshold = filter_threshold(row, params, memory, turn);
  const uint64_t rank = cluster_reduce<kSamplingThreads, kCluster>(
      best_draw(row, params, args.positions[index], threshold), ReduceLargest());
  if (writes) args.tokens[index] = rank == 0 ? first : int32_t(~uint32_t(rank));
}

}  // namespace tilewright
