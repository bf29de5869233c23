// SPDX-License-Identifier: Apache-2.0
// One warp a head of a token, lanes over its pairs. Bound: memory; latency when decoding.
#pragma once

#include "tilewright/device/core/types.h"
#include "tilewright/device/ptx/griddepcontrol.h"
#include "tilewright/ops/rope/rope_args.h"

namespace tilewright {

inline constexpr int kRopeWarps = 4;
inline constexpr int kRopeThreads = 32 * kRopeWarps;

struct Rotation {
  float sine, cosine;
};

// Of the float32 product position * frequency, as models are trained with. Its reduction to
// [-pi/4, pi/4] is in double precision: the library's own for large arguments spills to the stack.
// The polynomials are those of Cephes.
TW_DEVICE Rotation rotation_of(int32_t position, float frequency) {
  const double angle = double(float(position) * frequency);
  const double turns = rint(angle * 0.63661977236758134);  // of pi/2
  double rest = fma(turns, -1.5707963267948966, angle);
  rest = fma(turns, -6.123233995736766e-17, rest);
  const float r = float(rest), square = r * r;
  float sine = fmaf(square, -1.9515295891e-4f, 8.3321608736e-3f);
  sine = fmaf(square, sine, -1.6666654611e-1f);
  sine = fmaf(square * r, sine, r);
  float cosine = fmaf(square, 2.443315711809948e-5f, -1.388731625493765e-3f);
  cosine = fmaf(square, cosine, 4.166664568298827e-2f);
  cosine = fmaf(square * square, cosine, fmaf(square, -0.5f, 1.0f));
  const int quadrant = int(int64_t(turns)) & 3;
  const float s = quadrant & 1 ? cosine : sine;
  const float c = quadrant & 1 ? sine : cosine;
  return {quadrant & 2 ? -s : s, (quadrant + 1) & 2 ? -c : c};
}

struct RopePairs {
  const float* frequencies;  // null: nothing is rotated
  int32_t pairs, interleaved;
};

// Volatile, so that the compiler does not move the read behind the branches after it.
template <class T>
TW_DEVICE T read_early(const T* source) {
  if constexpr (sizeof(T) == 2) {
    T value;
    value.bits = *reinterpret_cast<const volatile uint16_t*>(source);
    return value;
  } else {
    return *static_cast<const volatile T*>(source);
  }
}

// target[i] = rotated source[i] for the rotated elements of a head; they may be the same memory.
// Without `keep` nothing is written; no read waits for it.
template <class To, class From>
TW_DEVICE void rotate_head(To* target, const From* source, const RopePairs& rope, int32_t position,
                           int lane, bool keep) {
  TW_NO_UNROLL
  for (int pair = lane; pair < rope.pairs; pair += 32) {
    const int first = rope.interleaved ? 2 * pair : pair;
    const int second = rope.interleaved ? 2 * pair + 1 : pair + rope.pairs;
    const float x = to_float(read_early(source + first));
    const float y = to_float(read_early(source + second));
    const Rotation rotation = rotation_of(position, read_early(rope.frequencies + pair));
    if (keep) {
      target[first] = from_float<To>(x * rotation.cosine - y * rotation.sine);
      target[second] = from_float<To>(x * rotation.sine + y * rotation.cosine);
    }
  }
}

template <class To, class From>
TW_DEVICE void copy_elements(To* target, const From* source, int begin, int end, int lane,
                             bool keep) {
  constexpr int kAhead = 4;
  TW_NO_UNROLL
  for (int i = begin + lane; i < end; i += 32 * kAhead) {
    From value[kAhead];
    TW_UNROLL
    for (int j = 0; j < kAhead; ++j)
      value[j] = read_early(source + (i + 32 * j < end ? i + 32 * j : i));
    TW_UNROLL
    for (int j = 0; j < kAhead; ++j) {
      if (keep && i + 32 * j < end) target[i + 32 * j] = from_float<To>(to_float(value[j]));
    }
  }
}

template <class T>
TW_KERNEL(kRopeThreads)
rope_heads(const TW_GRID_CONSTANT RopeArgs args) {
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  const int64_t token = blockIdx.x;
  const int64_t head = blockIdx.y * kRopeWarps + threadIdx.x / 32;
  if (head >= args.heads) return;
  T* x = static_cast<T*>(args.x) + token * args.token_stride + head * args.head_stride;
  rotate_head(x, x, {args.frequencies, int32_t(args.pairs), args.interleaved},
              args.positions[token], int(threadIdx.x % 32), true);
}

// Heads in the order of qkv: those of q are rotated in place, those of k and v go to the cache.
template <class T, class Cache>
TW_KERNEL(kRopeThreads)
rope_append_heads(const TW_GRID_CONSTANT RopeAppendArgs args) {
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  const int lane = int(threadIdx.x % 32);
  const int64_t token = blockIdx.x;
  const int64_t head = blockIdx.y * kRopeWarps + threadIdx.x / 32;
  if (head >= args.heads + 2 * args.kv_heads) return;
  T* source = static_cast<T*>(args.qkv) + token * args.qkv_stride + head * args.head_dim;
  const int32_t position = read_early(args.positions + token);
  const int64_t sequence = read_early(args.sequences + token);
  const RopePairs rope = {args.frequencies, args.frequencies == nullptr ? 0 : int32_t(args.pairs),
                          args.interleaved};
  if (head < args.heads) return rotate_head(source, source, rope, position, lane, true);

  const bool keep =
      position >= 0 && position < args.capacity && sequence >= 0 && sequence < args.sequence_count;
  if (head < args.heads + args.kv_heads) {
    Cache* key = static_cast<Cache*>(args.keys) + sequence * args.key_sequence_stride +
                 (head - args.heads) * args.key_head_stride + position * args.key_stride;
    rotate_head(key, source, rope, position, lane, keep);
    copy_elements(key, source, 2 * rope.pairs, int(args.head_dim), lane, keep);
  } else {
    Cache* value = static_cast<Cache*>(args.values) + sequence * args.value_sequence_stride +
                   (head - args.heads - args.kv_heads) * args.value_head_stride +
                   position * args.value_stride;
    copy_elements(value, source, 0, int(args.head_dim), lane, keep);
  }
}

}  // namespace tilewright
