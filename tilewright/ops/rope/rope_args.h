// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright {

struct RopeArgs {
  void* x;                                 // [tokens, heads, head_dim], in place
  const int32_t* positions;                // [tokens]
  const float* frequencies;                // [pairs]
  int64_t tokens, heads, head_dim, pairs;  // 2 * pairs <= head_dim
  int64_t token_stride, head_stride;       // in elements
  int32_t interleaved;                     // 1: (2i, 2i+1); 0: (i, i + pairs)
};

struct RopeAppendArgs {
  void* qkv;                 // [tokens, (heads + 2 * kv_heads) * head_dim]; q is rotated in place
  void* keys;                // [sequences, kv_heads, capacity, head_dim]
  void* values;              // the same shape
  const int32_t* positions;  // [tokens]
  const int32_t* sequences;  // [tokens]
  const float* frequencies;  // [pairs], or null: nothing is rotated
  int64_t tokens, heads, kv_heads, head_dim, pairs;
  int64_t sequence_count, capacity;
  int64_t qkv_stride;                                        // of a token, in elements
  int64_t key_sequence_stride, key_head_stride, key_stride;  // in elements
  int64_t value_sequence_stride, value_head_stride, value_stride;
  int32_t interleaved;
};

}  // namespace tilewright
