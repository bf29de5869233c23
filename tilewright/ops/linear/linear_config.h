// SPDX-License-Identifier: Apache-2.0
// Which kernel a product runs, and how. Pure functions: the same shape on the same kind of GPU
// always gets the same kernel.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/ops/linear/linear_args.h"
#include "tilewright/ops/linear/linear_call.h"

namespace tilewright {

inline constexpr std::int64_t kFewRows = 16;

// What a choice depends on besides the shape.
struct LinearGpu {
  int arch = 90, multiprocessors = 132;
  std::uint32_t shared_bytes = 232448;  // a block may have
};

// Knobs of linear_stream; 0 takes the default of the dtype. For measurements.
struct StreamTuning {
  int warps = 0;        // that multiply; 8 or 16
  int stage_units = 0;  // 32 elements each, of every row of a stage
  int max_stages = 0;
  std::uint32_t shared_budget = 0;  // bytes; the default lets two kernels share a multiprocessor
  bool evict_first = false;
  bool programmatic = true;  // starts before the kernel before it has ended
  int prefetch_stages = 0;   // asked into the L2 beyond the ring at the start
};

struct StreamConfig {
  int warps = 0, groups = 0, stage_units = 0, planes = 0, stages = 0, pass_units = 0, blocks = 0;
  std::uint32_t shared_bytes = 0;
  std::string kernel(DType weight) const;  // the name expression
};

// The C++ name of the reader of a weight dtype in linear_formats.cuh.
std::string weight_format(DType dtype);

// Parts of one dtype as one launch; args has everything but the stream's own fields.
bool stream_possible(const LinearArgs& args, int parts, DType weight, const LinearGpu& gpu);
// Sets the stream's fields of args.
StreamConfig stream_config(LinearArgs& args, DType weight, const LinearGpu& gpu,
                           const StreamTuning& tuning = {});

// linear_direct: one row of x against 16-bit weights.
struct DirectConfig {
  int batch = 8;         // 16-byte loads a lane keeps in flight
  bool exact = false;    // batches fill a row of the weight
  bool float_x = false;  // x is held as float32
  int blocks = 0;
  std::uint32_t shared_bytes = 0;
  std::string kernel(DType weight) const;  // the name expression
};
bool direct_possible(const LinearArgs& args, int parts, DType weight, const LinearGpu& gpu);
DirectConfig direct_config(const LinearArgs& args, DType weight, const LinearGpu& gpu);

}  // namespace tilewright
