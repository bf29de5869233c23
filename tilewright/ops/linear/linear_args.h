// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/device/core/storage.h"

namespace tilewright {

struct LinearPartArgs {
  const void* data;   // [rows, k], as stored
  int64_t row_bytes;  // from row to row
  int64_t rows;
};

struct LinearArgs {
  LinearPartArgs part[3];
  const void* x;                                // [m, k]
  const void* norm_weight;                      // [k] or null
  const void* bias;                             // [rows] or null
  const void* residual;                         // [m, rows] or null
  void* y;                                      // [m, rows]
  int64_t x_stride, y_stride, residual_stride;  // in elements
  int64_t rows;  // columns of y: rows of all parts, or pairs of rows with silu_pairs
  int64_t k;
  int32_t m;
  int32_t silu_pairs;
  float norm_eps;
  StorageType x_type, norm_type, bias_type, residual_type, y_type;

  // linear_stream alone.
  int32_t planes;           // terms that an element of x is split into
  int32_t stages;           // of the ring
  int32_t pass_units;       // 32 elements each: how much of k stays in shared memory at once
  int32_t evict_first;      // weights leave the L2 first
  int32_t prefetch_stages;  // asked into the L2 beyond the ring at the start
};

// Shared memory of linear_stream, in bytes from its start; the ring comes last.
struct StreamLayout {
  static constexpr int kTileRows = 16, kUnit = 32, kColumnPitch = 20;
  static constexpr int kProducers = 2;  // warps that copy
  uint32_t barriers, row_scales, partials, sums, totals, x, ring;
  uint32_t x_pitch, row_pitch, stage_bytes, bytes;
};

// row_bytes: of a stage; wide: lanes read 16 bytes of a row, else 4. Pitches spread rows over the
// banks: eight rows of 4 lanes x 4 bytes, or two rows of 4 lanes x 16 bytes, meet in no bank.
TW_HOST_DEVICE StreamLayout stream_layout(const LinearArgs& args, int warps, int groups,
                                          uint32_t row_bytes, bool wide, bool with_sums,
                                          int64_t block_rows) {
  StreamLayout layout;
  const uint32_t units = uint32_t(args.pass_units);
  const bool passes = int64_t(units) * StreamLayout::kUnit < args.k;
  const uint32_t partial_floats = uint32_t(warps * groups * 8 * StreamLayout::kColumnPitch);
  layout.x_pitch = (units | 1u) * 64u;
  layout.row_pitch =
      wide ? ((row_bytes + 63u) / 64u | 1u) * 64u : ((row_bytes + 31u) / 16u | 1u) * 16u;
  layout.stage_bytes = StreamLayout::kTileRows * layout.row_pitch;
  layout.barriers = 0;
  layout.row_scales = 512;
  layout.partials = layout.row_scales + 1536;
  layout.sums = layout.partials + partial_floats * 4u * (groups == 1 ? 2u : 1u);
  layout.totals = layout.sums + (with_sums ? units * uint32_t(groups) * 32u : 0u);
  const uint32_t total_bytes = uint32_t(block_rows * args.m) * (args.silu_pairs ? 8u : 4u);
  layout.x = (layout.totals + (passes ? total_bytes : 0u) + 127u) / 128u * 128u;
  layout.ring = (layout.x + uint32_t(args.planes * args.m) * layout.x_pitch + 127u) / 128u * 128u;
  layout.bytes = layout.ring + uint32_t(args.stages) * layout.stage_bytes;
  return layout;
}

}  // namespace tilewright
