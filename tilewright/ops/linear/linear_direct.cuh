// SPDX-License-Identifier: Apache-2.0
// One row of x times a large 16-bit weight, at the speed of device memory. A warp takes a row of
// the weight at a time, the warps of the grid neighbouring ones, and keeps kBatch 16-byte loads a
// lane in flight from its first instruction on, before x exists: the registers of 1024 threads hold
// 128 KB of a multiprocessor's weights, more than arrives while the kernel before this one ends and
// x is read. Bound: memory.
//
// x is kept in shared memory, as T or as float32. A normalised row is stored times its norm weight;
// its factor, which needs all of the row, multiplies the finished sums.
#pragma once

#include "tilewright/device/collective/reduce.h"
#include "tilewright/device/core/shared.h"
#include "tilewright/device/ptx/griddepcontrol.h"
#include "tilewright/ops/linear/linear_operands.cuh"

namespace tilewright {

inline constexpr int kDirectThreads = 512, kDirectWarps = kDirectThreads / 32;

namespace detail {

TW_DEVICE float low_of(bf16, uint32_t pair) { return bits_float(pair << 16); }
TW_DEVICE float high_of(bf16, uint32_t pair) { return bits_float(pair & 0xffff0000u); }
TW_DEVICE float low_of(half, uint32_t pair) { return half_to_float(uint16_t(pair)); }
TW_DEVICE float high_of(half, uint32_t pair) { return half_to_float(uint16_t(pair >> 16)); }

// Eight elements of the weight times those of x in shared memory, in two chains.
template <class T>
struct DirectX {
  const ptx::Word4* x;  // [vectors]
  TW_DEVICE DirectX(const char* memory, int) : x(reinterpret_cast<const ptx::Word4*>(memory)) {}
  TW_DEVICE void dot(const ptx::Word4& w, int at, float (&sum)[2]) const {
    const ptx::Word4 v = x[at];
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      sum[0] = fmaf(low_of(T(), w.word[i]), low_of(T(), v.word[i]), sum[0]);
      sum[1] = fmaf(high_of(T(), w.word[i]), high_of(T(), v.word[i]), sum[1]);
    }
  }
};

// The first and the last four elements of every vector lie apart: no two lanes meet in a bank.
template <class T>
struct DirectFloatX {
  const ptx::Word4* first;  // [vectors], then the other halves
  int vectors;
  TW_DEVICE DirectFloatX(const char* memory, int count)
      : first(reinterpret_cast<const ptx::Word4*>(memory)), vectors(count) {}
  TW_DEVICE void dot(const ptx::Word4& w, int at, float (&sum)[2]) const {
    TW_UNROLL
    for (int half = 0; half < 2; ++half) {
      const ptx::Word4 v = first[half * vectors + at];
      TW_UNROLL
      for (int i = 0; i < 2; ++i) {
        const uint32_t pair = w.word[half * 2 + i];
        sum[0] = fmaf(low_of(T(), pair), bits_float(v.word[2 * i]), sum[0]);
        sum[1] = fmaf(high_of(T(), pair), bits_float(v.word[2 * i + 1]), sum[1]);
      }
    }
  }
};

template <class T, bool kFloatX>
struct DirectXOf {
  using Type = DirectX<T>;
};
template <class T>
struct DirectXOf<T, true> {
  using Type = DirectFloatX<T>;
};

}  // namespace detail

// A warp's rows as one sequence of batches: kBatch vectors of eight elements a lane.
template <int kBatch, bool kExact>
struct DirectWeights {
  static constexpr int kBatchVectors = kBatch * 32;

  const LinearArgs& args;
  int vectors, batches;  // of a row
  int64_t row, step;
  bool up = false;  // of a pair: the second row
  int batch = 0;
  const char* at = nullptr;  // the lane's first vector of the batch
  int lane;

  TW_DEVICE DirectWeights(const LinearArgs& args_in, int64_t first_row, int64_t row_step,
                          int lane_in)
      : args(args_in), row(first_row), step(row_step), lane(lane_in) {
    vectors = int(args.k / 8);
    batches = (vectors + kBatchVectors - 1) / kBatchVectors;
    at = start();
  }

  TW_DEVICE const char* start() const {
    if (row >= args.rows) return nullptr;
    return (args.silu_pairs ? pair_row(args, row, up) : weight_row(args, row)) + lane * 16;
  }

  TW_DEVICE void load(int i, ptx::Word4& to) const {
    const bool inside = kExact || batch * kBatchVectors + i * 32 + lane < vectors;
    if (at != nullptr && inside) to = ptx::ld_global_stream(at + i * 512);
  }

  TW_DEVICE void next() {
    if (++batch < batches) {
      at += kBatchVectors * 16;
      return;
    }
    batch = 0;
    if (args.silu_pairs) up = !up;
    if (!up) row += step;
    at = start();
  }
};

// Four neighbours, 16 or 8 bytes aligned to their size.
TW_DEVICE void load4_aligned(const void* base, StorageType type, int index, float (&value)[4]) {
  if (type == kStorageF32) {
    const ptx::Word4 raw = ptx::ld_global_cg(static_cast<const char*>(base) + int64_t(index) * 4);
    TW_UNROLL
    for (int i = 0; i < 4; ++i) value[i] = detail::bits_float(raw.word[i]);
    return;
  }
  const char* source = static_cast<const char*>(base) + int64_t(index) * 2;
  const ptx::Word2 raw = ptx::ld_global_cg_word2(source);
  TW_UNROLL
  for (int i = 0; i < 2; ++i) {
    const bool is_half = type == kStorageF16;
    value[2 * i] =
        is_half ? detail::low_of(half(), raw.word[i]) : detail::low_of(bf16(), raw.word[i]);
    value[2 * i + 1] =
        is_half ? detail::high_of(half(), raw.word[i]) : detail::high_of(bf16(), raw.word[i]);
  }
}

// Fills x in shared memory; with a norm, returns this thread's sum of squares. Few registers: the
// weights in flight hold most of them, and one that is spilled has to arrive first.
template <bool kFloatX>
TW_DEVICE float direct_fill(const LinearArgs& args, char* x) {
  if constexpr (!kFloatX) {
    const char* source = static_cast<const char*>(args.x);
    _Pragma("unroll 2") for (int i = threadIdx.x * 16; i < int(args.k) * 2;
                             i += kDirectThreads * 16) {
      *reinterpret_cast<ptx::Word4*>(x + i) = ptx::ld_global_cg(source + i);
    }
    return 0;
  } else {
    ptx::Word4* halves = reinterpret_cast<ptx::Word4*>(x);
    const int vectors = int(args.k / 8);
    float square_sum = 0;
    _Pragma("unroll 1") for (int i = threadIdx.x; i < 2 * vectors; i += kDirectThreads) {
      float value[4], norm[4] = {1, 1, 1, 1};
      load4_aligned(args.x, args.x_type, i * 4, value);
      if (args.norm_weight != nullptr) {
        load4_aligned(args.norm_weight, args.norm_type, i * 4, norm);
      }
      ptx::Word4 bits;
      TW_UNROLL
      for (int j = 0; j < 4; ++j) {
        square_sum = fmaf(value[j], value[j], square_sum);
        bits.word[j] = detail::float_bits(value[j] * norm[j]);
      }
      halves[i % 2 * vectors + i / 2] = bits;
    }
    return square_sum;
  }
}

// The factor of a normalised row, on every thread; also the barrier after the filling of x.
TW_DEVICE float direct_factor(const LinearArgs& args, float square_sum, float* by_warp) {
  if (args.norm_weight == nullptr) {
    __syncthreads();
    return 1.0f;
  }
  square_sum = lanes_reduce<32>(square_sum, ReduceSum());
  if (threadIdx.x % 32 == 0) by_warp[threadIdx.x / 32] = square_sum;
  __syncthreads();
  float total = 0;
  TW_UNROLL
  for (int i = 0; i < kDirectWarps; ++i) total += by_warp[i];
  return rsqrtf(total / float(args.k) + args.norm_eps);
}

// T: bf16 or half. kExact: batches fill a row of the weight. kFloatX: x in shared memory is
// float32.
template <class T, int kBatch, bool kExact, bool kFloatX>
TW_KERNEL(kDirectThreads, 2)
linear_direct(const TW_GRID_CONSTANT LinearArgs args) {
  TW_DYNAMIC_SHARED(memory);
  __shared__ float by_warp[kDirectWarps];
  const int lane = int(threadIdx.x) % 32;
  const int64_t step = int64_t(gridDim.x) * kDirectWarps;
  int64_t row = int64_t(blockIdx.x) * kDirectWarps + threadIdx.x / 32;

  ptx::griddepcontrol_launch_dependents();
  DirectWeights<kBatch, kExact> weights(args, row, step, lane);
  const typename detail::DirectXOf<T, kFloatX>::Type x(memory, weights.vectors);
  ptx::Word4 held[kBatch];
  TW_UNROLL
  for (int i = 0; i < kBatch; ++i) weights.load(i, held[i]);
  weights.next();
  ptx::griddepcontrol_wait();
  const float square_sum = direct_fill<kFloatX>(args, memory);
  const float factor = direct_factor(args, square_sum, by_warp);

  float gate = 0;
  bool up = false;
  while (row < args.rows) {
    const float added = up == bool(args.silu_pairs) ? load_residual(args, 0, row) : 0.0f;
    float sums[2] = {0, 0};
    for (int batch = 0; batch < weights.batches; ++batch) {
      TW_UNROLL
      for (int i = 0; i < kBatch; ++i) {
        const int at = (batch * kBatch + i) * 32 + lane;
        const ptx::Word4 w = held[i];
        weights.load(i, held[i]);
        if (kExact || at < weights.vectors) x.dot(w, at, sums);
      }
      weights.next();
    }
    const float sum = lanes_reduce<32>(sums[0] + sums[1], ReduceSum()) * factor;
    if (args.silu_pairs && !up) {
      gate = silu(sum);
      up = true;
      continue;
    }
    if (lane == 0) finish(args, 0, row, args.silu_pairs ? gate * sum : sum, added);
    up = false;
    row += step;
  }
}

}  // namespace tilewright
