// SPDX-License-Identifier: Apache-2.0
// Few rows of x (m <= 16) times a large weight, at the speed of device memory. sm_90 and later.
//
// One block a multiprocessor takes a run of neighbouring weight rows. Its last four warps copy
// tiles of 16 rows x kStageUnits * 32 elements, as stored, into a ring of stages in shared memory;
// they start before the kernel before this one has ended, since weights are not that kernel's work.
// (A warp issues one copy in about 50 ns, whatever its size: one warp alone would be the limit.)
// The other warps turn their units of a stage into tensor-core operands: the weight rows are A, the
// rows of x (held in shared memory, see linear_stream_x.cuh) are the columns of B, so 1 to 8
// columns cost the same. At the end of a tile the warps' sums are added in a fixed order. Bound:
// memory.
#pragma once

#include "tilewright/device/core/shared.h"
#include "tilewright/device/ptx/bulk_copy.h"
#include "tilewright/device/ptx/griddepcontrol.h"
#include "tilewright/device/ptx/mma.h"
#include "tilewright/ops/linear/linear_formats.cuh"
#include "tilewright/ops/linear/linear_stream_x.cuh"

namespace tilewright {

// What the warps of a block agree on: its rows, and the order in which stages pass by.
template <class Format, int kWarps, int kGroups, int kStageUnits>
struct Stream {
  using Operand = typename Format::Operand;
  static constexpr int kTileRows = StreamLayout::kTileRows;
  static constexpr uint32_t kStageRowBytes =
      uint32_t(kStageUnits * StreamLayout::kUnit / Format::kBlock * Format::kBlockBytes);
  static constexpr int kSumColumns = kGroups * 8;
  static constexpr int kThreads = kWarps * 32;
  static constexpr int kPartialWarp = kGroups * 8 * StreamLayout::kColumnPitch;
  static_assert(kStageUnits * StreamLayout::kUnit % Format::kBlock == 0);
  static_assert(kStageRowBytes % 16 == 0);

  const LinearArgs& args;
  char* memory;
  StreamLayout layout;
  int64_t row_begin, row_end;  // columns of y
  int tile_step, units;        // columns of y of a tile; units of a row
  uint64_t *full, *empty;
  int slot = 0;
  uint32_t phase = 0;

  TW_DEVICE Stream(const LinearArgs& args_in, char* memory_in) : args(args_in), memory(memory_in) {
    const int64_t blocks = gridDim.x, block = blockIdx.x;
    row_begin = args.rows * block / blocks;
    row_end = args.rows * (block + 1) / blocks;
    tile_step = args.silu_pairs ? kTileRows / 2 : kTileRows;
    units = int(args.k / StreamLayout::kUnit);
    layout = stream_layout(args, kWarps, kGroups, kStageRowBytes, Format::kWide, Format::kMinimum,
                           (args.rows + blocks - 1) / blocks);
    full = reinterpret_cast<uint64_t*>(memory + layout.barriers);
    empty = full + args.stages;
  }

  TW_DEVICE void init_barriers() {
    for (int i = 0; i < args.stages; ++i) {
      ptx::mbarrier_init(full + i, StreamLayout::kProducers);
      ptx::mbarrier_init(empty + i, kWarps);
    }
    ptx::fence_mbarrier_init();
  }

  TW_DEVICE char* stage() const {
    return memory + layout.ring + uint32_t(slot) * layout.stage_bytes;
  }
  TW_DEVICE void next() {
    if (++slot == args.stages) {
      slot = 0;
      phase ^= 1u;
    }
  }

  // Row i of the tile at `row` in memory, or null when it is past the block's rows.
  TW_DEVICE const char* source_row(int64_t row, int i) const {
    if (args.silu_pairs) {
      const int64_t at = row + i % 8;
      return at < row_end ? pair_row(args, at, i / 8) : nullptr;
    }
    return row + i < row_end ? weight_row(args, row + i) : nullptr;
  }

  TW_DEVICE int pass_end(int first) const {
    return first + args.pass_units < units ? first + args.pass_units : units;
  }

  // Where the producer is: the next stage's units of its lane's row.
  struct Cursor {
    int pass = 0, unit = 0;
    int64_t row;
    const char* source;
  };

  // Producer p copies rows 4p … 4p + 3 of every tile, one a lane.
  static constexpr int kProducerRows = kTileRows / StreamLayout::kProducers;
  TW_DEVICE const char* lane_row(int64_t row, int producer_row) const {
    return producer_row >= 0 ? source_row(row, producer_row) : nullptr;
  }

  TW_DEVICE void advance(Cursor& at, int tile_row) const {
    at.unit += kStageUnits;
    if (at.unit < pass_end(at.pass)) return;
    at.row += tile_step;
    if (at.row >= row_end) {
      at.row = row_begin;
      at.pass += args.pass_units;
    }
    at.unit = at.pass;
    at.source = lane_row(at.row, tile_row);
  }

  struct Piece {
    uint64_t start;
    uint32_t bytes;
  };

  // A lane's bytes of a stage, from the 16-byte boundary before them; none past the block's rows.
  TW_DEVICE Piece piece(const Cursor& at) const {
    if (at.source == nullptr) return {0, 0};
    const int left = pass_end(at.pass) - at.unit, count = left < kStageUnits ? left : kStageUnits;
    const int64_t element = int64_t(at.unit) * StreamLayout::kUnit;
    const uint64_t start =
        reinterpret_cast<uint64_t>(at.source + element / Format::kBlock * Format::kBlockBytes);
    const uint32_t used =
        uint32_t(count * StreamLayout::kUnit / Format::kBlock * Format::kBlockBytes);
    return {start & ~uint64_t(15), (uint32_t(start & 15u) + used + 15u) / 16u * 16u};
  }

  // Asks for what follows the first filling of the ring: it comes into the L2 while the multiplying
  // warps wait for x.
  TW_DEVICE void prefetch(Cursor at, int tile_row) const {
    for (int i = 0; i < args.prefetch_stages && at.pass < units; ++i) {
      const Piece next = piece(at);
      if (next.bytes != 0) {
        ptx::cp_async_bulk_prefetch(reinterpret_cast<const void*>(next.start), next.bytes);
      }
      advance(at, tile_row);
    }
  }

  TW_DEVICE void produce(int producer, int lane) {
    if (row_begin >= row_end) return;
    const int tile_row = lane < kProducerRows ? producer * kProducerRows + lane : -1;
    Cursor at = {0, 0, row_begin, lane_row(row_begin, tile_row)};
    for (int filled = 0; at.pass < units; ++filled) {
      if (filled == args.stages) prefetch(at, tile_row);
      copy_stage(piece(at), tile_row, lane);
      advance(at, tile_row);
      next();
    }
  }

  TW_DEVICE void copy_stage(const Piece& from, int tile_row, int lane) const {
    ptx::mbarrier_wait(empty + slot, phase ^ 1u);
    const uint32_t total = __reduce_add_sync(0xffffffffu, from.bytes);
    if (lane == 0) ptx::mbarrier_arrive_expect_tx(full + slot, total);
    __syncwarp();
    if (from.bytes == 0) return;
    char* target = stage() + uint32_t(tile_row) * layout.row_pitch;
    const void* source = reinterpret_cast<const void*>(from.start);
    if (args.evict_first) {
      ptx::cp_async_bulk_evict_first(target, source, from.bytes, full + slot);
    } else {
      ptx::cp_async_bulk(target, source, from.bytes, full + slot);
    }
  }

  // One unit of a stage: 16 weight rows x 32 elements times every column. x: the unit of column g.
  TW_DEVICE void multiply(const char* low_row, const char* high_row, uint32_t low_skew,
                          uint32_t high_skew, int unit, int x_unit, int lane,
                          float (&sum)[kGroups][4]) const {
    const int g = lane / 4, q = lane % 4;
    WeightFragment low, high;
    Format::fragment(low_row, low_skew, unit, q, low);
    Format::fragment(high_row, high_skew, unit, q, high);
    TW_UNROLL
    for (int group = 0; group < kGroups; ++group) {
      const int column = group * 8 + g;
      ptx::Word4 x = {};
      if (column < args.planes * args.m) {
        x = *reinterpret_cast<const ptx::Word4*>(
            memory + layout.x + uint32_t(column) * layout.x_pitch + x_unit * 64 + q * 16);
      }
      if constexpr (!Format::kScaled) {
        ptx::mma_m16n8k16(Operand(), sum[group], low.word[0], high.word[0], low.word[1],
                          high.word[1], x.word[0], x.word[1]);
        ptx::mma_m16n8k16(Operand(), sum[group], low.word[2], high.word[2], low.word[3],
                          high.word[3], x.word[2], x.word[3]);
      } else {
        add_scaled(low, high, x, x_unit, group, q, sum[group]);
      }
    }
  }

  TW_DEVICE void add_scaled(const WeightFragment& low, const WeightFragment& high,
                            const ptx::Word4& x, int x_unit, int group, int q,
                            float (&sum)[4]) const {
    float product[2][4] = {};
    ptx::mma_m16n8k16(Operand(), product[0], low.word[0], high.word[0], low.word[1], high.word[1],
                      x.word[0], x.word[1]);
    constexpr int kSecond = Format::kBlock == 32 ? 0 : 1;  // one scale for both products, or two
    ptx::mma_m16n8k16(Operand(), product[kSecond], low.word[2], high.word[2], low.word[3],
                      high.word[3], x.word[2], x.word[3]);
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      TW_UNROLL
      for (int half = 0; half <= kSecond; ++half) {
        sum[i] += (i < 2 ? low : high).scale[half] * product[half][i];
      }
    }
    if constexpr (Format::kMinimum) {
      const float* column_sums = reinterpret_cast<const float*>(memory + layout.sums) +
                                 x_unit * kSumColumns + group * 8 + q * 2;
      TW_UNROLL
      for (int i = 0; i < 4; ++i) sum[i] += (i < 2 ? low : high).minimum * column_sums[i % 2];
    }
  }

  TW_DEVICE uint32_t skew(int64_t row, int i) const {
    if constexpr (Format::kWide) return 0;
    return uint32_t(reinterpret_cast<uint64_t>(source_row(row, i)) & 15u);
  }

  // Sums of a tile over one pass, of this warp's units.
  TW_DEVICE void consume_tile(int64_t row, int pass, int warp, int lane, float (&sum)[kGroups][4]) {
    const int g = lane / 4;
    const uint32_t low_skew = skew(row, g), high_skew = skew(row, g + 8);
    for (int unit = pass; unit < pass_end(pass); unit += kStageUnits) {
      ptx::mbarrier_wait(full + slot, phase);
      const char* low_row = stage() + uint32_t(g) * layout.row_pitch;
      const char* high_row = low_row + 8u * layout.row_pitch;
      const int count = pass_end(pass) - unit;
      if (count >= kStageUnits && kStageUnits % kWarps == 0) {
        _Pragma("unroll 4") for (int i = 0; i < kStageUnits / kWarps; ++i) {
          const int at = i * kWarps + warp;
          multiply(low_row, high_row, low_skew, high_skew, at, unit - pass + at, lane, sum);
        }
      } else {
        for (int at = warp; at < count && at < kStageUnits; at += kWarps) {
          multiply(low_row, high_row, low_skew, high_skew, at, unit - pass + at, lane, sum);
        }
      }
      ptx::fence_proxy_async_shared();  // our reads come before the copy that overwrites the stage
      __syncwarp();
      if (lane == 0) ptx::mbarrier_arrive(empty + slot);
      next();
    }
  }

  // This warp's sums, where finish_tile finds them: [warp][column][row].
  TW_DEVICE void store_partials(float* partials, int warp, int lane,
                                const float (&sum)[kGroups][4]) const {
    TW_UNROLL
    for (int group = 0; group < kGroups; ++group) {
      TW_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int column = group * 8 + lane % 4 * 2 + i % 2, row = lane / 4 + i / 2 * 8;
        partials[warp * kPartialWarp + column * StreamLayout::kColumnPitch + row] = sum[group][i];
      }
    }
  }

  TW_DEVICE float total(const float* partials, int m, int row) const {
    float value = 0;
    _Pragma("unroll 1") for (int plane = 0; plane < args.planes; ++plane) {
      const int column = plane * args.m + m;
      TW_UNROLL
      for (int warp = 0; warp < kWarps; ++warp) {
        value += partials[warp * kPartialWarp + column * StreamLayout::kColumnPitch + row];
      }
    }
    return value;
  }

  // Adds up the warps' sums of a tile; with more passes to come, keeps them for the block.
  // added: residual_of(row, thread).
  TW_DEVICE void finish_tile(const float* partials, const RowScales* scales, int64_t row, int pass,
                             int thread, float added) const {
    const bool last = pass + args.pass_units >= units;
    const int lines = row_end - row < tile_step ? int(row_end - row) : tile_step;
    float* kept = reinterpret_cast<float*>(memory + layout.totals);
    for (int index = thread; index < tile_step * args.m; index += kThreads) {
      const int line = index % tile_step, m = index / tile_step;
      if (line >= lines) continue;
      float value = total(partials, m, line);
      float second = args.silu_pairs ? total(partials, m, line + 8) : 0.0f;
      float* mine = kept + ((row - row_begin + line) * args.m + m) * (args.silu_pairs ? 2 : 1);
      if (pass > 0) {
        value += mine[0];
        if (args.silu_pairs) second += mine[1];
      }
      if (!last) {
        mine[0] = value;
        if (args.silu_pairs) mine[1] = second;
        continue;
      }
      const float factor = scales != nullptr ? scales->out[m] : 1.0f;
      value *= factor;
      if (args.silu_pairs) value = silu(value) * (second * factor);
      if (index != thread) added = load_residual(args, m, row + line);
      finish(args, m, row + line, value, added);
    }
  }

  // What is added to the first element of a tile that this thread finishes.
  TW_DEVICE float residual_of(int64_t row, int thread) const {
    const int line = thread % tile_step, m = thread / tile_step;
    if (m >= args.m || row + line >= row_end) return 0;
    return load_residual(args, m, row + line);
  }

  TW_DEVICE void consumers_sync() const { ptx::barrier_sync(1, kThreads); }

  TW_DEVICE void consume(int warp, int lane) {
    RowScales* scales = reinterpret_cast<RowScales*>(memory + layout.row_scales);
    StreamX<Format, kWarps> x(args, *scales, warp, lane);
    x.prefetch_norm();
    ptx::griddepcontrol_wait();
    const int thread = warp * 32 + lane;
    const bool rounded = x.rounded();
    if (rounded) {
      x.clear_sums();
    } else if (x.scaled()) {
      x.measure();
      consumers_sync();
      if (thread < args.m) x.settle(thread);
      consumers_sync();
    }
    float* partials = reinterpret_cast<float*>(memory + layout.partials);
    int buffer = 0;
    for (int pass = 0; pass < units; pass += args.pass_units) {
      if (pass > 0) consumers_sync();  // x of the pass before is still read
      x.fill(memory + layout.x, layout.x_pitch, reinterpret_cast<float*>(memory + layout.sums),
             kSumColumns, pass, pass_end(pass) - pass);
      consumers_sync();
      if (rounded && x.scaled() && thread < args.m) x.settle_rounded(thread);
      for (int64_t row = row_begin; row < row_end; row += tile_step) {
        float sum[kGroups][4] = {};
        const float added = residual_of(row, thread);  // on its way while the weights stream
        consume_tile(row, pass, warp, lane, sum);
        float* target = partials + buffer * kWarps * kPartialWarp;
        if (kGroups > 1) consumers_sync();  // one buffer: the tile before has been read
        store_partials(target, warp, lane, sum);
        consumers_sync();
        finish_tile(target, x.scaled() ? scales : nullptr, row, pass, thread, added);
        if (kGroups == 1) buffer ^= 1;
      }
    }
  }
};

template <class Format, int kWarps, int kGroups, int kStageUnits>
TW_KERNEL((kWarps + StreamLayout::kProducers) * 32, kWarps <= 8 ? 2 : 1)
linear_stream(const TW_GRID_CONSTANT LinearArgs args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  TW_DYNAMIC_SHARED(memory);
  Stream<Format, kWarps, kGroups, kStageUnits> stream(args, memory);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  if (threadIdx.x == 0) stream.init_barriers();
  __syncthreads();
  if (warp >= kWarps) {
    stream.produce(warp - kWarps, lane);
    // Not before: the next kernel fills its ring while this one's last loads arrive and its sums
    // are finished, not in competition with its loads. The first thread of a block counts.
    ptx::griddepcontrol_launch_dependents();
  } else {
    stream.consume(warp, lane);
  }
#endif
}

}  // namespace tilewright
