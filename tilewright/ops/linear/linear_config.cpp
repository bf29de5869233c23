// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/linear/linear_config.h"

#include <algorithm>

#include "tilewright/ops/_core/kernel_names.h"

namespace tilewright {

namespace {

// Measured: a deep ring beats room for the next kernel's block beside it (NOTES-cuda.md).
constexpr std::uint32_t kSharedBudget = 220 * 1024;
constexpr std::uint32_t kLeastRing = 64 * 1024;  // bytes in flight that saturate the memory

constexpr std::int64_t kDirectShared = 100 * 1024;  // two blocks of linear_direct
constexpr int kDirectBlocks = 2;                    // on a multiprocessor

bool is_wide(DType weight) { return !is_block_type(weight); }

// A copy of a bulk engine costs about 50 ns to issue whatever its size: 2 KB a row or more.
int default_stage_units(DType weight, int columns) {
  if (!is_block_type(weight)) return 32;
  if (columns <= 4) return 128;
  return weight == DType::q8_0 && columns > 16 ? 32 : 64;
}
int default_warps(DType weight, int columns) {
  return is_block_type(weight) && columns <= 16 ? 16 : 8;
}

// Terms of the operand type that x is split into. Exact, except that a normalised row, and f32 of
// more than eight rows, keep 16 bits (bfloat16 operands) or 22 (half operands).
int plane_count(const LinearArgs& args, DType weight) {
  if (args.norm_weight != nullptr) return 2;
  if (weight == DType::f16) return args.x_type == kStorageF32 ? 2 : 1;
  if (args.x_type == kStorageF32) return args.m <= 8 ? 3 : 2;  // three would not leave room
  return args.x_type == kStorageF16 ? 2 : 1;
}

int group_count(int columns) { return columns <= 8 ? 1 : columns <= 16 ? 2 : 4; }

std::uint32_t stage_row_bytes(DType weight, int stage_units) {
  return static_cast<std::uint32_t>(bytes_of(weight, std::int64_t(stage_units) * 32));
}

struct Fit {
  LinearArgs& args;
  DType weight;
  const StreamConfig& config;

  std::uint32_t bytes(int pass_units, int stages) const {
    args.pass_units = pass_units;
    args.stages = stages;
    return stream_layout(args, config.warps, config.groups,
                         stage_row_bytes(weight, config.stage_units), is_wide(weight),
                         weight == DType::q4_1, ceil_div(args.rows, config.blocks))
        .bytes;
  }
};

}  // namespace

std::string weight_format(DType dtype) {
  switch (dtype) {
    case DType::f32: return "tilewright::PlainWeights<float>";
    case DType::f16: return "tilewright::PlainWeights<tilewright::half>";
    case DType::bf16: return "tilewright::PlainWeights<tilewright::bf16>";
    case DType::q8_0: return "tilewright::WeightsQ8_0";
    case DType::q4_0: return "tilewright::WeightsQ4_0";
    case DType::q4_1: return "tilewright::WeightsQ4_1";
    case DType::q6_k: return "tilewright::WeightsQ6K";
    default: TW_FAIL(Unsupported, "linear: cuda: no kernel reads ", name(dtype), " weights");
  }
}

std::string StreamConfig::kernel(DType weight) const {
  return str("tilewright::linear_stream<", weight_format(weight), ", ", warps, ", ", groups, ", ",
             stage_units, ">");
}

bool stream_possible(const LinearArgs& args, int parts, DType weight, const LinearGpu& gpu) {
  if (gpu.arch < 90 || weight == DType::f32) return false;
  if (args.m < 1 || args.m > kFewRows || args.k == 0 || args.k % 32 != 0) return false;
  if (args.k > std::int64_t(1) << 24) return false;
  const std::int64_t x_bytes = args.x_type == kStorageF32 ? 4 : 2;
  const auto address = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
  };
  if ((address(args.x) | std::uintptr_t(args.x_stride * x_bytes)) % 16 != 0) return false;
  if (address(args.norm_weight) % 16 != 0) return false;
  const std::uintptr_t align = is_wide(weight) ? 16 : weight == DType::q4_1 ? 4 : 2;
  for (int i = 0; i < parts; ++i) {
    const LinearPartArgs& part = args.part[i];
    if ((address(part.data) | std::uintptr_t(part.row_bytes)) % align != 0) return false;
  }
  return true;
}

StreamConfig stream_config(LinearArgs& args, DType weight, const LinearGpu& gpu,
                           const StreamTuning& tuning) {
  StreamConfig config;
  config.planes = plane_count(args, weight);
  const int columns = config.planes * args.m;
  config.groups = group_count(columns);
  config.warps = tuning.warps > 0 ? tuning.warps : default_warps(weight, columns);
  config.stage_units =
      tuning.stage_units > 0 ? tuning.stage_units : default_stage_units(weight, columns);
  config.blocks = static_cast<int>(std::clamp<std::int64_t>(args.rows, 1, gpu.multiprocessors));
  args.planes = config.planes;
  args.evict_first = tuning.evict_first;
  args.prefetch_stages = tuning.prefetch_stages;

  const Fit fit{args, weight, config};
  const int units = static_cast<int>(args.k / 32);
  const std::uint32_t stage = fit.bytes(units, 1) - fit.bytes(units, 0);
  const int least = std::max(2, static_cast<int>(ceil_div(kLeastRing, stage)));
  const int most = tuning.max_stages > 0 ? tuning.max_stages : 32;
  const std::uint32_t budget = tuning.shared_budget > 0 ? tuning.shared_budget : kSharedBudget;

  // Halves what is held of x until it and the least ring fit; passes are whole stages. Sums of all
  // the block's rows are kept between passes: more blocks keep fewer.
  int pass = units;
  while (fit.bytes(pass, least) > gpu.shared_bytes && pass > config.stage_units) {
    pass = static_cast<int>(ceil_div(ceil_div(pass, 2), config.stage_units)) * config.stage_units;
  }
  while (fit.bytes(pass, least) > gpu.shared_bytes && config.blocks < args.rows) {
    config.blocks = static_cast<int>(std::min<std::int64_t>(config.blocks * 2, args.rows));
  }
  int stages = std::min(least, most);
  while (stages > 2 && fit.bytes(pass, stages) > gpu.shared_bytes) --stages;
  while (stages < most && fit.bytes(pass, stages + 1) <= std::min(budget, gpu.shared_bytes)) {
    ++stages;
  }
  config.pass_units = pass;
  config.stages = stages;
  config.shared_bytes = fit.bytes(pass, stages);
  return config;
}

std::string DirectConfig::kernel(DType weight) const {
  const auto word = [](bool value) { return value ? "true" : "false"; };
  return str("tilewright::linear_direct<", cpp_type(weight), ", ", batch, ", ", word(exact), ", ",
             word(float_x), ">");
}

bool direct_possible(const LinearArgs& args, int parts, DType weight, const LinearGpu& gpu) {
  if (gpu.arch < 80 || (weight != DType::bf16 && weight != DType::f16)) return false;
  if (args.m != 1 || args.k == 0 || args.k % 8 != 0 || args.k * 4 > kDirectShared) return false;
  const auto aligned = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
  };
  if (!aligned(args.x) || !aligned(args.norm_weight)) return false;
  for (int i = 0; i < parts; ++i) {
    if (!aligned(args.part[i].data) || args.part[i].row_bytes % 16 != 0) return false;
  }
  return true;
}

DirectConfig direct_config(const LinearArgs& args, DType weight, const LinearGpu& gpu) {
  const std::int64_t vectors = args.k / 8;
  const StorageType own = weight == DType::bf16 ? kStorageBf16 : kStorageF16;
  DirectConfig config;
  config.batch = vectors % 256 == 0 ? 8 : 4;
  config.exact = vectors % (32 * config.batch) == 0;
  config.float_x = args.norm_weight != nullptr || args.x_type != own;
  const int most = gpu.multiprocessors * kDirectBlocks;
  config.blocks = static_cast<int>(std::clamp<std::int64_t>(args.rows, 1, most));
  config.shared_bytes = static_cast<std::uint32_t>(args.k * (config.float_x ? 4 : 2));
  return config;
}

}  // namespace tilewright
