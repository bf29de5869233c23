// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/linear/linear_cuda.h"

#include <algorithm>

#include "tilewright/ops/_core/kernel_names.h"
#include "tilewright/ops/_core/row_config.h"
#include "tilewright/ops/linear/linear_cuda_internal.h"

namespace tilewright {

namespace {

constexpr const char* kFolder = "tilewright/ops/linear/";
constexpr int kDirectBlock = 512;  // threads: kDirectThreads of linear_direct.cuh
constexpr int kRowsColumns = 8;    // columns of y of a block of linear_rows

KernelSpec kernel_of(const char* file, const std::string& expression) {
  return {std::string(kFolder) + file, expression};
}

KernelSpec rows_kernel(DType weight, int rows) {
  return kernel_of("linear_rows.cuh",
                   str("tilewright::linear_rows<", weight_format(weight), ", ", rows, ">"));
}

KernelSpec tiles_kernel(DType weight) {
  return kernel_of("linear_tiles.cuh",
                   str("tilewright::linear_tiles<", weight_format(weight), ">"));
}

KernelSpec expand_kernel(DType weight, DType to) {
  return kernel_of("linear_tiles.cuh", str("tilewright::linear_expand<", weight_format(weight),
                                           ", ", cpp_type(to), ">"));
}

StorageType storage_or_f32(const LinearVector& vector) {
  return vector.data == nullptr ? kStorageF32 : storage_type(vector.dtype);
}

std::int64_t storage_bytes(const LinearVector& vector) { return info(vector.dtype).bytes; }

const void* offset(const LinearVector& vector, std::int64_t elements) {
  if (vector.data == nullptr) return nullptr;
  return static_cast<const char*>(vector.data) + elements * storage_bytes(vector);
}

void launch_stream(LinearArgs& args, DType weight, const StreamTuning& tuning, const LinearGpu& gpu,
                   const Stream& stream) {
  const StreamConfig config = stream_config(args, weight, gpu, tuning);
  LaunchShape shape =
      row_of_blocks(config.blocks, (config.warps + StreamLayout::kProducers) * 32, "linear");
  shape.shared_bytes = config.shared_bytes;
  shape.programmatic = tuning.programmatic;
  launch(kernel_of("linear_stream.cuh", config.kernel(weight)), shape, stream, args);
}

// How many parts from `first` share a dtype: one launch.
int same_dtype(const LinearCall& call, int first) {
  int count = 1;
  while (first + count < call.part_count &&
         call.parts[first + count].dtype == call.parts[first].dtype) {
    ++count;
  }
  return count;
}

void few_rows(const LinearCall& call, const Stream& stream) {
  const LinearGpu gpu = linear_gpu(stream);
  std::int64_t column = 0;
  for (int first = 0; first < call.part_count;) {
    const int count = call.silu_pairs ? 2 : same_dtype(call, first);
    LinearArgs args = linear_args(call, first, count, column);
    const DType weight = call.parts[first].dtype;
    if (args.rows > 0) {
      if (direct_possible(args, count, weight, gpu)) {
        launch_direct(args, weight, gpu, stream);
      } else if (stream_possible(args, count, weight, gpu)) {
        launch_stream(args, weight, {}, gpu, stream);
      } else {
        launch_rows(args, weight, gpu, stream);
      }
    }
    column += args.rows;
    first += count;
  }
}

}  // namespace

LinearGpu linear_gpu(const Stream& stream) {
  if (collecting_kernels()) return {};
  const DeviceProperties& gpu = properties(stream.device());
  return {gpu.arch.number(), gpu.multiprocessors,
          static_cast<std::uint32_t>(gpu.shared_bytes_per_block)};
}

LinearArgs linear_args(const LinearCall& call, int first, int count, std::int64_t column) {
  LinearArgs args{};
  for (int i = 0; i < count; ++i) {
    const LinearPart& part = call.parts[first + i];
    args.part[i] = {part.data, part.row_bytes, part.rows};
    args.rows += part.rows;
  }
  if (call.silu_pairs) args.rows /= 2;
  args.x = call.x.data;
  args.x_type = storage_type(call.x.dtype);
  args.x_stride = call.x_stride;
  args.y = static_cast<char*>(call.y) + column * info(call.y_dtype).bytes;
  args.y_type = storage_type(call.y_dtype);
  args.y_stride = call.y_stride;
  args.norm_weight = call.k == 0 ? nullptr : call.norm_weight.data;
  args.norm_type = storage_or_f32(call.norm_weight);
  args.norm_eps = call.norm_eps;
  args.bias = offset(call.bias, column);
  args.bias_type = storage_or_f32(call.bias);
  args.residual = offset(call.residual, column);
  args.residual_type = storage_or_f32(call.residual);
  args.residual_stride = call.residual_stride;
  args.k = call.k;
  args.m = static_cast<int>(call.m);
  args.silu_pairs = call.silu_pairs;
  return args;
}

void launch_rows(const LinearArgs& args, DType weight, const LinearGpu& gpu, const Stream& stream) {
  const int rows = args.m == 1 ? 1 : 4;
  LaunchShape shape = row_of_blocks(ceil_div(args.rows, kRowsColumns), 256, "linear");
  shape.grid.y = grid_extent(ceil_div(args.m, rows), "linear");
  shape.programmatic = shape.programmatic && gpu.arch >= 90;
  launch(rows_kernel(weight, rows), shape, stream, args);
}

void launch_direct(const LinearArgs& args, DType weight, const LinearGpu& gpu,
                   const Stream& stream) {
  const DirectConfig config = direct_config(args, weight, gpu);
  LaunchShape shape = row_of_blocks(config.blocks, kDirectBlock, "linear");
  shape.shared_bytes = config.shared_bytes;
  shape.programmatic = gpu.arch >= 90;
  launch(kernel_of("linear_direct.cuh", config.kernel(weight)), shape, stream, args);
}

void launch_tiles(const LinearArgs& args, DType weight, const Stream& stream) {
  LaunchShape shape = row_of_blocks(ceil_div(args.rows, 64), 256, "linear");
  shape.grid.y = grid_extent(ceil_div(args.m, 64), "linear");
  TW_CHECK(shape.grid.y <= 65535, InvalidArgument, "linear: x: got ", args.m,
           " rows; takes at most 4194240 here; split the call");
  shape.programmatic = false;
  launch(tiles_kernel(weight), shape, stream, args);
}

void launch_expand(const LinearPart& part, std::int64_t k, void* target, DType to,
                   const Stream& stream) {
  LinearArgs args{};
  args.part[0] = {part.data, part.row_bytes, part.rows};
  args.rows = part.rows;
  args.k = k;
  args.y = target;
  LaunchShape shape = row_of_blocks(part.rows, 256, "linear");
  shape.grid.y = grid_extent(ceil_div(k, 2048), "linear");
  shape.programmatic = false;
  launch(expand_kernel(part.dtype, to), shape, stream, args);
}

void linear_cuda(const LinearCall& call, const Stream& stream) {
  const bool one_kernel = !call.silu_pairs || call.parts[0].dtype == call.parts[1].dtype;
  if (call.m <= kFewRows && one_kernel) return few_rows(call, stream);
  many_rows(call, stream);
}

void linear_stream_cuda(const LinearCall& call, const StreamTuning& tuning, const Stream& stream) {
  const LinearGpu gpu = linear_gpu(stream);
  const DType weight = call.parts[0].dtype;
  LinearArgs args = linear_args(call, 0, call.part_count, 0);
  TW_CHECK(
      same_dtype(call, 0) == call.part_count && stream_possible(args, call.part_count, weight, gpu),
      Unsupported, "linear: this call cannot run linear_stream");
  launch_stream(args, weight, tuning, gpu, stream);
}

KernelList linear_manifest() {
  KernelList kernels;
  for (const DType weight : {DType::bf16, DType::f16}) {
    for (const bool float_x : {false, true}) {
      for (const DirectConfig& config :
           {DirectConfig{8, true, float_x}, DirectConfig{4, true, float_x},
            DirectConfig{4, false, float_x}}) {
        kernels.push_back(kernel_of("linear_direct.cuh", config.kernel(weight)));
      }
    }
  }
  for (const DType weight :
       {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0, DType::q4_1, DType::q6_k}) {
    for (const int rows : {1, 4}) kernels.push_back(rows_kernel(weight, rows));
    kernels.push_back(tiles_kernel(weight));
    if (weight == DType::f32) continue;
    for (const int m : {1, 8, 16, 32}) {  // columns: every number of groups and units
      LinearArgs args{};
      args.rows = args.k = 4096;
      args.x_type = weight == DType::f16 ? kStorageF16 : kStorageBf16;
      args.m = m;
      kernels.push_back(
          kernel_of("linear_stream.cuh", stream_config(args, weight, {}).kernel(weight)));
    }
    if (!is_block_type(weight)) continue;
    for (const DType to : {DType::f16, DType::bf16}) kernels.push_back(expand_kernel(weight, to));
  }
  return kernels;
}

}  // namespace tilewright
