// SPDX-License-Identifier: Apache-2.0
// Few tokens, each with its own stretch of the cache. A block serves up to kGroup query heads of
// one key/value head, so the cache is read once for them, and a part of the entries: the parts are
// those of the blocks of a cluster, which merge through shared memory (kClustered), or are merged
// by a second kernel from the workspace. Bound: memory; latency at short contexts.
//
// A team of kTeam lanes reads an entry, eight elements a lane; teams take entries in turn.
#pragma once

#include "tilewright/device/collective/cluster.h"
#include "tilewright/device/ptx/griddepcontrol.h"
#include "tilewright/ops/attention/attention_core.cuh"

namespace tilewright {

inline constexpr int kDecodeWarps = 8;
inline constexpr int kDecodeThreads = 32 * kDecodeWarps;
inline constexpr int kMergeThreads = 128;

// The state of one team for kGroup heads.
template <int kGroup>
struct DecodeState {
  float maximum[kGroup], sum[kGroup];
  float output[kGroup][kVec8];
};

template <int kGroup>
TW_DEVICE void clear(DecodeState<kGroup>& state) {
  TW_UNROLL
  for (int g = 0; g < kGroup; ++g) {
    state.maximum[g] = minus_infinity();
    state.sum[g] = 0;
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) state.output[g][i] = 0;
  }
}

// Takes in kEntries entries: keys, values (this lane's eight elements each) and how many are real.
template <int kTeam, int kGroup, int kEntries>
TW_DEVICE void absorb(DecodeState<kGroup>& state, const float (&q)[kGroup][kVec8],
                      const Vec8<float> (&keys)[kEntries], const Vec8<float> (&values)[kEntries],
                      int64_t real, int64_t stride) {
  TW_UNROLL
  for (int g = 0; g < kGroup; ++g) {
    float score[kEntries], maximum = state.maximum[g];
    TW_UNROLL
    for (int e = 0; e < kEntries; ++e) {
      float part = 0;
      TW_UNROLL
      for (int i = 0; i < kVec8; ++i) part += q[g][i] * keys[e].value[i];
      part = lanes_reduce<kTeam>(part, ReduceSum());
      score[e] = e * stride < real ? part : minus_infinity();
      maximum = fmaxf(maximum, score[e]);
    }
    const float factor = rescale(state.maximum[g], maximum);
    state.maximum[g] = maximum;
    state.sum[g] *= factor;
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) state.output[g][i] *= factor;
    TW_UNROLL
    for (int e = 0; e < kEntries; ++e) {
      const float weight = exp2_fast(score[e] - softmax_base(maximum));
      state.sum[g] += weight;
      TW_UNROLL
      for (int i = 0; i < kVec8; ++i) state.output[g][i] += weight * values[e].value[i];
    }
  }
}

// Merges the teams of a warp; every team then holds the result.
template <int kTeam, int kGroup>
TW_DEVICE void merge_teams(DecodeState<kGroup>& state) {
  TW_UNROLL
  for (int mask = kTeam; mask < 32; mask *= 2) {
    TW_UNROLL
    for (int g = 0; g < kGroup; ++g) {
      const float other = __shfl_xor_sync(0xffffffffu, state.maximum[g], mask);
      const float other_sum = __shfl_xor_sync(0xffffffffu, state.sum[g], mask);
      const float maximum = fmaxf(state.maximum[g], other);
      const float mine = rescale(state.maximum[g], maximum), theirs = rescale(other, maximum);
      state.maximum[g] = maximum;
      state.sum[g] = state.sum[g] * mine + other_sum * theirs;
      TW_UNROLL
      for (int i = 0; i < kVec8; ++i) {
        const float value = __shfl_xor_sync(0xffffffffu, state.output[g][i], mask);
        state.output[g][i] = state.output[g][i] * mine + value * theirs;
      }
    }
  }
}

// A warp's or a block's results for kGroup heads of kDim elements.
template <int kGroup, int kDim>
struct DecodePart {
  float maximum[kGroup], sum[kGroup];
  float output[kGroup][kDim];
};

// Merges element `at` of head g over parts 0 ... count - 1, in that order; part(i) is part i.
struct MergedElement {
  float maximum, sum, output;
};
template <class Part>
TW_DEVICE MergedElement merge_element(int count, int g, int at, Part part) {
  float maximum = minus_infinity();
  for (int i = 0; i < count; ++i) maximum = fmaxf(maximum, part(i)->maximum[g]);
  MergedElement merged = {maximum, 0, 0};
  for (int i = 0; i < count; ++i) {
    const float factor = rescale(part(i)->maximum[g], maximum);
    merged.sum += part(i)->sum[g] * factor;
    merged.output += part(i)->output[g][at] * factor;
  }
  return merged;
}

// Writes a warp's state, which all its teams hold, from the first team's lanes.
template <int kTeam, int kGroup>
TW_DEVICE void keep_state(DecodePart<kGroup, kTeam * kVec8>& part,
                          const DecodeState<kGroup>& state) {
  const int lane = int(threadIdx.x) % 32;
  if (lane >= kTeam) return;
  TW_UNROLL
  for (int g = 0; g < kGroup; ++g) {
    if (lane == 0) part.maximum[g] = state.maximum[g];
    if (lane == 0) part.sum[g] = state.sum[g];
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) part.output[g][lane * kVec8 + i] = state.output[g][i];
  }
}

// Which heads and entries a block works on. Grid: parts of the entries, heads, tokens.
struct DecodeWork {
  int64_t token, kv_head, first_head, heads;  // heads: real ones of kGroup
  int64_t begin, end;                         // entries
};
template <int kGroup>
TW_DEVICE DecodeWork decode_work(const AttentionArgs& args) {
  const int group = int(args.heads) / int(args.kv_heads);
  const int parts_of_group = (group + kGroup - 1) / kGroup;
  const int kv_head = int(blockIdx.y) / parts_of_group;
  const int offset = int(blockIdx.y) % parts_of_group * kGroup;
  DecodeWork work;
  work.token = blockIdx.z;
  work.kv_head = kv_head;
  work.first_head = int64_t(kv_head) * group + offset;
  work.heads = group - offset < kGroup ? group - offset : kGroup;
  work.begin = work.end = 0;
  return work;
}

// What the number of entries depends on; asked for early, since everything waits for it.
struct DecodePlace {
  int32_t position, sequence;
};
TW_DEVICE DecodePlace read_place(const AttentionArgs& args, const DecodeWork& work) {
  // Volatile, so that the compiler does not move the reads down to their first use.
  return {static_cast<const volatile int32_t*>(args.positions)[work.token],
          static_cast<const volatile int32_t*>(args.sequences)[work.token]};
}

// The entries of this block's part: the token's, cut into as many parts as the grid is wide.
TW_DEVICE void choose_entries(const AttentionArgs& args, const DecodePlace& place,
                              DecodeWork& work) {
  const int seen = int(visible_entries(args, place.position, place.sequence));
  const int share = (seen + int(gridDim.x) - 1) / int(gridDim.x);
  work.begin = int64_t(share) * blockIdx.x;
  work.end = work.begin + share < seen ? work.begin + share : seen;
}

// This lane's eight elements of each query head. All are asked for before the first is used.
template <class T, int kTeam, int kGroup>
TW_DEVICE void read_queries_as(const AttentionArgs& args, const DecodeWork& work,
                               Vec8<float> (&values)[kGroup]) {
  const int64_t at = int(threadIdx.x) % kTeam * kVec8;
  const bool inside = at < args.head_dim;
  const T* q = static_cast<const T*>(args.q) + work.token * args.q_token_stride +
               work.first_head * args.q_head_stride + (inside ? at : 0);
  if (aligned16(q) && args.q_head_stride * int64_t(sizeof(T)) % 16 == 0) {
    Stored8<T> stored[kGroup];
    TW_UNROLL
    for (int g = 0; g < kGroup; ++g) {
      stored[g] = read8(q + (g < work.heads ? g : 0) * args.q_head_stride);
    }
    TW_UNROLL
    for (int g = 0; g < kGroup; ++g) values[g] = widen8(stored[g], inside && g < work.heads);
  } else {
    TW_UNROLL
    for (int g = 0; g < kGroup; ++g) {
      const int64_t count = inside && g < work.heads ? kVec8 : 0;
      values[g] = load8(q + g * args.q_head_stride, count, false);
    }
  }
}

// Scaled so that scores are in units of log 2.
template <int kTeam, int kGroup>
TW_DEVICE void read_queries(const AttentionArgs& args, const DecodeWork& work,
                            float (&q)[kGroup][kVec8]) {
  Vec8<float> values[kGroup];
  if (args.q_type == kStorageBf16) {
    read_queries_as<bf16, kTeam>(args, work, values);
  } else if (args.q_type == kStorageF16) {
    read_queries_as<half, kTeam>(args, work, values);
  } else {
    read_queries_as<float, kTeam>(args, work, values);
  }
  TW_UNROLL
  for (int g = 0; g < kGroup; ++g) {
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) q[g][i] = values[g].value[i] * (args.scale * kLog2E);
  }
}

// There is at least one entry. Past the end, and in lanes past head_dim, an entry or element that
// is there is read and taken as 0: no branch keeps the reads from being in flight together.
template <class C, int kTeam, int kGroup>
TW_DEVICE void read_entries(const AttentionArgs& args, const DecodeWork& work, int64_t sequence,
                            const float (&q)[kGroup][kVec8], DecodeState<kGroup>& state) {
  constexpr int kTeams = kDecodeThreads / kTeam;
  constexpr int kEntries = kGroup > 2 ? 4 : 8;  // in flight for each team
  const int team = int(threadIdx.x) / kTeam;
  const int64_t at = int(threadIdx.x) % kTeam * kVec8;
  const bool inside = at < args.head_dim;
  const int64_t offset = inside ? at : 0;
  constexpr int64_t kNever = int64_t(1) << 62;  // no entry
  const C* keys = static_cast<const C*>(args.keys) + sequence * args.key_sequence_stride +
                  work.kv_head * args.key_head_stride + offset;
  const C* values = static_cast<const C*>(args.values) + sequence * args.value_sequence_stride +
                    work.kv_head * args.value_head_stride + offset;
  for (int64_t entry = work.begin; entry < work.end; entry += kTeams * kEntries) {
    const int64_t first = entry + team, real = work.end - first;
    Stored8<C> k_stored[kEntries], v_stored[kEntries];
    TW_UNROLL
    for (int e = 0; e < kEntries; ++e) {
      const int64_t from = e * kTeams < real ? first + e * kTeams : work.end - 1;
      k_stored[e] = read8(keys + from * args.key_stride);
      v_stored[e] = read8(values + from * args.value_stride);
    }
    if (entry == kNever) {  // a use of the values: else their reads sink below the scores
      TW_UNROLL
      for (int e = 0; e < kEntries; ++e) {
        state.sum[0] += detail::bits_float(v_stored[e].part[0].word[0]);
      }
      return;
    }
    Vec8<float> k[kEntries], v[kEntries];
    TW_UNROLL
    for (int e = 0; e < kEntries; ++e) {
      k[e] = widen8(k_stored[e], inside && e * kTeams < real);
      v[e] = widen8(v_stored[e], inside && e * kTeams < real);
    }
    absorb<kTeam>(state, q, k, v, real, kTeams);
  }
}

// Merges the parts of all warps, element by element, and gives each to put(g, at, element).
template <int kGroup, int kDim, class Part, class Put>
TW_DEVICE void merge_parts(const AttentionArgs& args, const DecodeWork& work, int count, int first,
                           int step, Part part, Put put) {
  for (int index = first; index < kGroup * kDim; index += step) {
    const int g = index / kDim, at = index % kDim;
    if (g < work.heads && at < args.head_dim) put(g, at, merge_element(count, g, at, part));
  }
}

// As merge_element over the blocks of the cluster, but all parts are asked for at once: one trip.
template <int kGroup, int kDim>
TW_DEVICE MergedElement merge_ranks(DecodePart<kGroup, kDim>& mine, int ranks, int g, int at) {
  float maximum[kAttentionMostRanks], sum[kAttentionMostRanks], output[kAttentionMostRanks];
  TW_UNROLL
  for (int i = 0; i < kAttentionMostRanks; ++i) {
    const auto* part = ptx::mapa(&mine, i < ranks ? i : 0);
    maximum[i] = part->maximum[g];
    sum[i] = part->sum[g];
    output[i] = part->output[g][at];
  }
  float largest = minus_infinity();
  TW_UNROLL
  for (int i = 0; i < kAttentionMostRanks; ++i) {
    if (i < ranks) largest = fmaxf(largest, maximum[i]);
  }
  MergedElement merged = {largest, 0, 0};
  TW_UNROLL
  for (int i = 0; i < kAttentionMostRanks; ++i) {
    const float factor = rescale(maximum[i], largest);
    if (i < ranks) merged.sum += sum[i] * factor;
    if (i < ranks) merged.output += output[i] * factor;
  }
  return merged;
}

// The ranks share the elements, a warp's worth at a time. A block leaves when all have read its
// part; nobody waits for the writes of the output.
template <int kGroup, int kDim>
TW_DEVICE void write_merged(const AttentionArgs& args, const DecodeWork& work,
                            DecodePart<kGroup, kDim>& mine, int ranks, int rank) {
  constexpr int kLeast = 2 * kDecodeThreads;  // threads of the smallest cluster
  constexpr int kElements = (kGroup * kDim + kLeast - 1) / kLeast;
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  MergedElement elements[kElements] = {};
  const auto index_of = [&](int i) {
    return ((i * kDecodeWarps + warp) * ranks + rank) * 32 + lane;
  };
  const auto is_real = [&](int index) {
    return index < kGroup * kDim && index / kDim < work.heads && index % kDim < args.head_dim;
  };
  TW_UNROLL
  for (int i = 0; i < kElements; ++i) {
    const int index = index_of(i);
    if (is_real(index)) elements[i] = merge_ranks(mine, ranks, index / kDim, index % kDim);
  }
  ptx::barrier_cluster_arrive();
  TW_UNROLL
  for (int i = 0; i < kElements; ++i) {
    const int index = index_of(i);
    if (!is_real(index)) continue;
    write_output(args, work.token, work.first_head + index / kDim, index % kDim, elements[i].output,
                 elements[i].sum);
  }
  ptx::barrier_cluster_wait();
}

template <class C, int kTeam, int kGroup, bool kClustered>
TW_KERNEL(kDecodeThreads)
attention_decode(const TW_GRID_CONSTANT AttentionArgs args) {
  constexpr int kDim = kTeam * kVec8;
  using Part = DecodePart<kGroup, kDim>;
  __shared__ Part parts[kDecodeWarps];
  ptx::griddepcontrol_launch_dependents();
  DecodeWork work = decode_work<kGroup>(args);
  DecodeState<kGroup> state;
  clear(state);
  ptx::griddepcontrol_wait();
  const DecodePlace place = read_place(args, work);
  float q[kGroup][kVec8];
  read_queries<kTeam>(args, work, q);  // in flight together with the place
  choose_entries(args, place, work);
  if (work.begin < work.end) read_entries<C, kTeam>(args, work, place.sequence, q, state);
  merge_teams<kTeam>(state);
  keep_state<kTeam>(parts[threadIdx.x / 32], state);
  __syncthreads();

  const int thread = int(threadIdx.x), ranks = int(gridDim.x), rank = int(blockIdx.x);
  const auto warp_part = [&](int i) { return &parts[i]; };
  const auto write = [&](int g, int at, const MergedElement& element) {
    write_output(args, work.token, work.first_head + g, at, element.output, element.sum);
  };
  if constexpr (kClustered) {
    __shared__ Part merged;
    const auto keep = [&](int g, int at, const MergedElement& element) {
      merged.output[g][at] = element.output;
      if (at == 0) merged.maximum[g] = element.maximum;
      if (at == 0) merged.sum[g] = element.sum;
    };
    merge_parts<kGroup, kDim>(args, work, kDecodeWarps, thread, kDecodeThreads, warp_part, keep);
    ptx::barrier_cluster();
    write_merged<kGroup, kDim>(args, work, merged, ranks, rank);
  } else if (ranks == 1) {
    merge_parts<kGroup, kDim>(args, work, kDecodeWarps, thread, kDecodeThreads, warp_part, write);
  } else {
    const auto put_aside = [&](int g, int at, const MergedElement& element) {
      float* part = workspace_part(args, work.token, work.first_head + g, ranks, rank);
      part[2 + at] = element.output;
      if (at == 0) part[0] = element.maximum;
      if (at == 0) part[1] = element.sum;
    };
    merge_parts<kGroup, kDim>(args, work, kDecodeWarps, thread, kDecodeThreads, warp_part,
                              put_aside);
  }
}

// Merges what attention_decode put aside. Grid: heads, tokens.
template <int kParts>
TW_KERNEL(kMergeThreads)
attention_merge(const TW_GRID_CONSTANT AttentionArgs args) {
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  const int64_t head = blockIdx.x, token = blockIdx.y;
  float maximum = minus_infinity();
  for (int i = 0; i < kParts; ++i) {
    maximum = fmaxf(maximum, workspace_part(args, token, head, kParts, i)[0]);
  }
  for (int64_t at = threadIdx.x; at < args.head_dim; at += kMergeThreads) {
    float sum = 0, output = 0;
    for (int i = 0; i < kParts; ++i) {
      const float* part = workspace_part(args, token, head, kParts, i);
      const float factor = rescale(part[0], maximum);
      sum += part[1] * factor;
      output += part[2 + at] * factor;
    }
    write_output(args, token, head, at, output, sum);
  }
}

}  // namespace tilewright
