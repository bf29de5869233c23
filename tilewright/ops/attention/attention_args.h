// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/device/core/storage.h"

namespace tilewright {

inline constexpr int kAttentionMostRanks = 8;  // blocks of a cluster of attention_decode

struct AttentionArgs {
  const void* q;             // [tokens, heads, head_dim]
  const void* keys;          // [sequences, kv_heads, capacity, head_dim]
  const void* values;        // the same shape and dtype
  const int32_t* positions;  // [tokens]
  const int32_t* sequences;  // [tokens]
  void* out;                 // [tokens, heads, head_dim]
  float* workspace;          // at least attention_workspace() floats, or null when that is 0
  int64_t tokens, heads, kv_heads, head_dim;
  int64_t sequence_count, capacity;
  int64_t q_token_stride, q_head_stride;  // in elements, like all below
  int64_t out_token_stride, out_head_stride;
  int64_t key_sequence_stride, key_head_stride, key_stride;
  int64_t value_sequence_stride, value_head_stride, value_stride;
  int64_t workspace_floats;
  float scale;
  StorageType q_type = kStorageF32, out_type = kStorageF32;  // set by the cuda side
  int32_t causal;  // 0: every entry of the cache is seen by every token of position >= 0
};

}  // namespace tilewright
