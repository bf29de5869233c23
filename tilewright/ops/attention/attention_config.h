// SPDX-License-Identifier: Apache-2.0
// Which attention kernel runs, as a pure function of sizes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tilewright/ops/attention/attention_args.h"

namespace tilewright {

struct AttentionConfig {
  bool decode = false;
  // decode
  int team = 0, group = 0;  // lanes of an entry; query heads of a block
  int splits = 1;           // parts of the entries
  bool clustered = false;   // the parts are one cluster; else they go through the workspace
  std::int64_t blocks_y = 0;
  // tiles
  int dim = 0, queries = 0;
};

inline constexpr int kAttentionTeams[] = {4, 8, 16, 32};
inline constexpr int kAttentionGroups[] = {1, 2, 4};
inline constexpr int kAttentionParts[] = {2, 4, 8, 16};

// The next power of two of head_dim / 8, at least 4.
inline int attention_team(std::int64_t head_dim) {
  int team = 4;
  while (team * 8 < head_dim) team *= 2;
  return team;
}

// Parts of the entries: enough blocks for two a multiprocessor, none with too little to do. The
// cluster merges in well under a microsecond; the second kernel costs about two.
inline int attention_splits(std::int64_t blocks, std::int64_t capacity, bool clusters) {
  const int most = clusters ? kAttentionMostRanks : 16;
  const int entries = clusters ? 16 : 128;
  int splits = 1;
  while (splits < most && blocks * splits * 2 <= 264 && capacity >= entries * splits * 2) {
    splits *= 2;
  }
  return splits;
}

inline bool attention_decodes(std::int64_t tokens, std::int64_t sequences) {
  return tokens <= std::max<std::int64_t>(16, sequences) && tokens <= 65535;
}

inline std::int64_t attention_part_floats(std::int64_t tokens, std::int64_t heads,
                                          std::int64_t head_dim) {
  return tokens * heads * (head_dim + 2);
}

// `aligned`: every eight elements of the cache start on 16 bytes.
inline AttentionConfig attention_config(const AttentionArgs& args, bool aligned, bool clusters) {
  AttentionConfig config;
  config.decode = aligned && attention_decodes(args.tokens, args.sequence_count);
  if (!config.decode) {
    config.dim = args.head_dim <= 64 ? 64 : args.head_dim <= 128 ? 128 : 256;
    config.queries = config.dim == 256 ? 16 : 32;
    return config;
  }
  const std::int64_t group = args.heads / args.kv_heads;
  config.team = attention_team(args.head_dim);
  config.group = group >= 3 ? 4 : static_cast<int>(group);
  config.blocks_y = args.kv_heads * ((group + config.group - 1) / config.group);
  config.splits = attention_splits(args.tokens * config.blocks_y, args.capacity, clusters);
  config.clustered = clusters && config.splits > 1;
  const std::int64_t part = attention_part_floats(args.tokens, args.heads, args.head_dim);
  while (!config.clustered && config.splits > 1 && config.splits * part > args.workspace_floats) {
    config.splits /= 2;
  }
  return config;
}

}  // namespace tilewright
