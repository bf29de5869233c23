// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tilewright/ops/_core/isa_table.h"

namespace tilewright {

// Entries that one partial result covers. Every row is summed split by split, and the splits are
// merged in order, whoever computes them: a row's bits depend on its own query and cache alone.
inline constexpr std::int64_t kAttentionSplit = 256;
inline constexpr std::int64_t kAttentionBlock = 64;  // at most so many keys between rescalings

// Online softmax over some entries: weights are exp(score - maximum).
struct AttentionPartial {
  float* sums;     // [rows, width]: weighted values
  float* maxima;   // [rows]
  float* weights;  // [rows]: sum of the weights
};

// Rows (queries) of one sequence that share a key/value head.
struct AttentionTile {
  const float* q;              // [rows, width], scaled, zeros past head_dim
  const std::int64_t* limits;  // [rows]: entries that each row sees
  std::int64_t rows, head_dim;
  std::int64_t width;  // head_dim rounded up to 16
  const void* keys;    // entry 0 of the head
  const void* values;
  std::int64_t key_stride, value_stride;  // in elements
  int storage;                            // of the cache: 0 f32, 1 f16, 2 bf16
  float* scratch;                         // attention_scratch_floats()
};

// A block of keys, one of values, and the scores of up to four rows.
inline std::int64_t attention_scratch_floats(std::int64_t width) {
  return 2 * kAttentionBlock * width + 4 * kAttentionBlock;
}

struct AttentionTable {
  // Entries [begin, end) of at most one split; overwrites the partial result.
  void (*split)(const AttentionTile& tile, std::int64_t begin, std::int64_t end,
                const AttentionPartial& result);
  // total = total and then `later`, for rows that see entry `begin` of the later split.
  void (*merge)(const AttentionTile& tile, std::int64_t begin, const AttentionPartial& total,
                const AttentionPartial& later);
  // sums[row] / weights[row], in place; 0 for a row that saw nothing.
  void (*finish)(const AttentionTile& tile, const AttentionPartial& total);
};
TW_ISA_TABLE(AttentionTable, attention_table)

}  // namespace tilewright
