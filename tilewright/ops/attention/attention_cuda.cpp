// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/attention/attention_cuda.h"

#include "tilewright/ops/_core/row_config.h"
#include "tilewright/ops/attention/attention_config.h"

namespace tilewright {

namespace {

constexpr const char* kFile = "tilewright/ops/attention/attention.cuh";
constexpr AttentionConfig kTileConfigs[] = {
    {.dim = 64, .queries = 32}, {.dim = 128, .queries = 32}, {.dim = 256, .queries = 16}};

KernelSpec decode_kernel(DType cache, int team, int group, bool clustered) {
  return {kFile, instance("attention_decode", cache, team, group, clustered)};
}
KernelSpec tiles_kernel(DType cache, const AttentionConfig& config) {
  return {kFile, instance("attention_tiles", cache, config.dim, config.queries)};
}
KernelSpec merge_kernel(int parts) { return {kFile, instance("attention_merge", parts)}; }

bool has_clusters(Device device) { return properties(device).arch.number() >= 90; }

bool reads_vectors(const AttentionArgs& args, DType cache) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(args.keys) | reinterpret_cast<std::uintptr_t>(args.values);
  const int64_t strides = args.key_sequence_stride | args.key_head_stride | args.key_stride |
                          args.value_sequence_stride | args.value_head_stride | args.value_stride;
  const int64_t bytes = static_cast<int64_t>(info(cache).bytes);
  return address % 16 == 0 && strides * bytes % 16 == 0;
}

// The size of AttentionTileMemory of attention_tiles.cuh.
std::uint32_t tile_bytes(const AttentionConfig& config) {
  const int rows = (config.queries + 32) * (config.dim + 4);
  return static_cast<std::uint32_t>((rows + config.queries * (33 + 2)) * 4);
}

void launch_tiles(const AttentionArgs& args, DType cache, const AttentionConfig& config,
                  const Stream& stream) {
  TW_CHECK(args.heads <= 65535, InvalidArgument, "attention: got ", args.heads,
           " heads; wants at most 65535");
  const int64_t tiles = ceil_div(args.tokens, config.queries);
  LaunchShape shape = row_of_blocks(tiles, 256, "attention");
  shape.grid.y = static_cast<std::uint32_t>(args.heads);
  shape.shared_bytes = tile_bytes(config);
  shape.programmatic = worth_programmatic(tiles * args.heads);
  launch(tiles_kernel(cache, config), shape, stream, args);
}

void launch_decode(const AttentionArgs& args, DType cache, const AttentionConfig& config,
                   const Stream& stream) {
  TW_CHECK(config.blocks_y <= 65535, InvalidArgument, "attention: got ", args.kv_heads,
           " key/value heads; wants at most 65535");
  LaunchShape shape = row_of_blocks(config.splits, 256, "attention");
  shape.grid.y = static_cast<std::uint32_t>(config.blocks_y);
  shape.grid.z = static_cast<std::uint32_t>(args.tokens);
  shape.cluster = config.clustered ? static_cast<std::uint32_t>(config.splits) : 1;
  shape.programmatic = worth_programmatic(config.splits * config.blocks_y * args.tokens);
  launch(decode_kernel(cache, config.team, config.group, config.clustered), shape, stream, args);
  if (config.clustered || config.splits == 1) return;
  LaunchShape merge = row_of_blocks(args.heads, 128, "attention");
  merge.grid.y = static_cast<std::uint32_t>(args.tokens);
  launch(merge_kernel(config.splits), merge, stream, args);
}

}  // namespace

void attention_cuda(const AttentionArgs& args, DType q, DType cache, DType out,
                    const Stream& stream) {
  if (args.tokens == 0 || args.heads == 0 || args.head_dim == 0) return;
  AttentionArgs typed = args;
  typed.q_type = storage_type(q);
  typed.out_type = storage_type(out);
  const AttentionConfig config =
      attention_config(args, reads_vectors(args, cache), has_clusters(stream.device()));
  if (config.decode) {
    launch_decode(typed, cache, config, stream);
  } else {
    launch_tiles(typed, cache, config, stream);
  }
}

// Clusters merge through shared memory; before them, the parts go through the workspace.
int64_t attention_cuda_workspace(int64_t tokens, int64_t heads, int64_t head_dim, int64_t capacity,
                                 Device device) {
  if (has_clusters(device) || tokens > 64) return 0;
  const int splits = attention_splits(1, capacity, false);
  return splits == 1 ? 0 : splits * attention_part_floats(tokens, heads, head_dim);
}

KernelList attention_manifest() {
  KernelList kernels;
  for (DType cache : kRealTypes) {
    for (const AttentionConfig& config : kTileConfigs) {
      kernels.push_back(tiles_kernel(cache, config));
    }
    for (int team : kAttentionTeams) {
      for (int group : kAttentionGroups) {
        for (bool clustered : {false, true}) {
          kernels.push_back(decode_kernel(cache, team, group, clustered));
        }
      }
    }
  }
  for (int parts : kAttentionParts) kernels.push_back(merge_kernel(parts));
  return kernels;
}

}  // namespace tilewright
