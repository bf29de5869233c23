// SPDX-License-Identifier: Apache-2.0
// Many tokens: a block takes kQueries tokens of one head and walks the entries that any of them
// sees in tiles of 32, first the keys, then the values, through shared memory. Products in float32
// on the plain units: any types, strides and alignment. Bound: shared memory.
//
// The threads of a row are neighbours in one warp: thread c of them scores entries c, c + kLanes, …
// of a tile, and owns elements 4c … 4c + 3, 4(c + kLanes) … of the output.
#pragma once

#include "tilewright/device/ptx/griddepcontrol.h"
#include "tilewright/ops/attention/attention_core.cuh"

namespace tilewright {

inline constexpr int kTileThreads = 256;
inline constexpr int kTileKeys = 32;

// Rows are 4 floats longer than the data, so that eight rows fall on different banks.
template <int kDim, int kQueries>
struct AttentionTileMemory {
  float queries[kQueries][kDim + 4];
  float entries[kTileKeys][kDim + 4];  // keys, then values
  float weights[kQueries][kTileKeys + 1];
  int32_t sequence[kQueries];
  int32_t seen[kQueries];
};

struct alignas(16) Float4 {
  float value[4];
};
TW_DEVICE Float4 float4_at(const float* source) { return *reinterpret_cast<const Float4*>(source); }

// Copies rows `begin` … of a head of the cache; what is past `end` or head_dim becomes 0.
template <class C, int kDim>
TW_DEVICE void load_tile(float (*tile)[kDim + 4], const C* head, int64_t stride, int begin, int end,
                         int head_dim) {
  for (int index = threadIdx.x; index < kTileKeys * kDim / kVec8; index += kTileThreads) {
    const int row = index / (kDim / kVec8), at = index % (kDim / kVec8) * kVec8;
    const bool real = begin + row < end && at < head_dim;
    const C* source = head + (begin + row) * stride + at;
    const Vec8<float> value = real ? load8(source, kVec8, aligned16(source)) : Vec8<float>{};
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) tile[row][at + i] = value.value[i];
  }
}

template <int kDim, int kQueries>
TW_DEVICE void load_queries(AttentionTileMemory<kDim, kQueries>& memory, const AttentionArgs& args,
                            int64_t first, int64_t head) {
  for (int row = threadIdx.x; row < kQueries; row += kTileThreads) {
    const bool real = first + row < args.tokens;
    memory.seen[row] = real ? int32_t(visible_entries(args, first + row)) : 0;
    memory.sequence[row] = real ? args.sequences[first + row] : -1;
  }
  for (int index = threadIdx.x; index < kQueries * kDim; index += kTileThreads) {
    const int row = index / kDim, at = index % kDim;
    const bool real = first + row < args.tokens && at < args.head_dim;
    const int64_t source = (first + row) * args.q_token_stride + head * args.q_head_stride + at;
    memory.queries[row][at] =
        real ? load_any(args.q, source, args.q_type) * (args.scale * kLog2E) : 0.0f;
  }
}

template <int kDim, int kLanes>
struct TileState {
  static constexpr int kPieces = kDim / (4 * kLanes);
  float maximum = minus_infinity(), sum = 0;
  float output[kPieces][4] = {};
};

// Scores of this thread's row against the keys of the tile; writes the weights of the row and moves
// the state to the new maximum. `left`: entries of the tile that the row sees.
template <int kDim, int kQueries, int kLanes>
TW_DEVICE void score_tile(AttentionTileMemory<kDim, kQueries>& memory,
                          TileState<kDim, kLanes>& state, int row, int c, int left) {
  constexpr int kScores = kTileKeys / kLanes;
  float score[kScores] = {};
  TW_UNROLL_TWICE
  for (int at = 0; at < kDim; at += 4) {
    const Float4 q = float4_at(&memory.queries[row][at]);
    TW_UNROLL
    for (int j = 0; j < kScores; ++j) {
      const Float4 k = float4_at(&memory.entries[c + j * kLanes][at]);
      TW_UNROLL
      for (int i = 0; i < 4; ++i) score[j] += q.value[i] * k.value[i];
    }
  }
  float maximum = state.maximum;
  TW_UNROLL
  for (int j = 0; j < kScores; ++j) {
    if (c + j * kLanes >= left) score[j] = minus_infinity();
    maximum = fmaxf(maximum, score[j]);
  }
  TW_UNROLL
  for (int mask = kLanes / 2; mask > 0; mask /= 2) {
    maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, mask));
  }
  const float factor = rescale(state.maximum, maximum);
  state.maximum = maximum;
  state.sum *= factor;
  TW_UNROLL
  for (int p = 0; p < TileState<kDim, kLanes>::kPieces; ++p) {
    TW_UNROLL
    for (int i = 0; i < 4; ++i) state.output[p][i] *= factor;
  }
  TW_UNROLL
  for (int j = 0; j < kScores; ++j) {
    const float weight = exp2_fast(score[j] - softmax_base(maximum));
    memory.weights[row][c + j * kLanes] = weight;
    state.sum += weight;  // of this thread's entries: summed over the row's threads at the end
  }
}

// Stops at what the row sees: weight 0 times a NaN that only later rows see would be NaN.
template <int kDim, int kQueries, int kLanes>
TW_DEVICE void add_values(const AttentionTileMemory<kDim, kQueries>& memory,
                          TileState<kDim, kLanes>& state, int row, int c, int left) {
  const int count = left < kTileKeys ? left : kTileKeys;
  for (int entry = 0; entry < count; ++entry) {
    const float weight = memory.weights[row][entry];
    TW_UNROLL
    for (int p = 0; p < TileState<kDim, kLanes>::kPieces; ++p) {
      const Float4 v = float4_at(&memory.entries[entry][4 * (c + p * kLanes)]);
      TW_UNROLL
      for (int i = 0; i < 4; ++i) state.output[p][i] += weight * v.value[i];
    }
  }
}

// Rows [begin, end) of the block are of one sequence; the others see nothing of it.
template <class C, int kDim, int kQueries, int kLanes>
TW_DEVICE void walk_sequence(AttentionTileMemory<kDim, kQueries>& memory, const AttentionArgs& args,
                             TileState<kDim, kLanes>& state, int64_t kv_head, int begin, int end) {
  const int row = int(threadIdx.x) / kLanes, c = int(threadIdx.x) % kLanes;
  int most = 0;
  for (int i = begin; i < end; ++i) most = memory.seen[i] > most ? memory.seen[i] : most;
  const int mine = row >= begin && row < end ? memory.seen[row] : 0;
  const int64_t sequence = memory.sequence[begin];
  const C* keys = static_cast<const C*>(args.keys) + sequence * args.key_sequence_stride +
                  kv_head * args.key_head_stride;
  const C* values = static_cast<const C*>(args.values) + sequence * args.value_sequence_stride +
                    kv_head * args.value_head_stride;
  for (int entry = 0; entry < most; entry += kTileKeys) {
    load_tile<C, kDim>(memory.entries, keys, args.key_stride, entry, most, int(args.head_dim));
    __syncthreads();
    score_tile<kDim, kQueries, kLanes>(memory, state, row, c, mine - entry);
    __syncthreads();
    load_tile<C, kDim>(memory.entries, values, args.value_stride, entry, most, int(args.head_dim));
    __syncthreads();
    add_values<kDim, kQueries, kLanes>(memory, state, row, c, mine - entry);
    __syncthreads();
  }
}

// Grid: tiles of tokens, heads.
template <class C, int kDim, int kQueries>
TW_KERNEL(kTileThreads)
attention_tiles(const TW_GRID_CONSTANT AttentionArgs args) {
  constexpr int kLanes = kTileThreads / kQueries;
  extern __shared__ Float4 dynamic_memory[];
  auto& memory = *reinterpret_cast<AttentionTileMemory<kDim, kQueries>*>(dynamic_memory);
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  const int64_t first = int64_t(blockIdx.x) * kQueries, head = blockIdx.y;
  load_queries(memory, args, first, head);
  __syncthreads();

  TileState<kDim, kLanes> state;
  const int64_t kv_head = int(head) / (int(args.heads) / int(args.kv_heads));
  for (int begin = 0; begin < kQueries;) {
    int end = begin + 1;
    while (end < kQueries && memory.sequence[end] == memory.sequence[begin]) ++end;
    walk_sequence<C, kDim, kQueries, kLanes>(memory, args, state, kv_head, begin, end);
    begin = end;
  }

  const int row = int(threadIdx.x) / kLanes, c = int(threadIdx.x) % kLanes;
  const float inverse = softmax_inverse(lanes_reduce<kLanes>(state.sum, ReduceSum()));
  const int64_t token = first + row;
  if (token >= args.tokens) return;
  const int64_t target = token * args.out_token_stride + head * args.out_head_stride;
  TW_UNROLL
  for (int p = 0; p < TileState<kDim, kLanes>::kPieces; ++p) {
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int64_t at = 4 * (c + p * kLanes) + i;
      if (at >= args.head_dim) continue;
      store_any(args.out, target + at, args.out_type, state.output[p][i] * inverse);
    }
  }
}

}  // namespace tilewright
