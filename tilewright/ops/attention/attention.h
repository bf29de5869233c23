// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/rope/rope.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

struct AttentionOptions {
  float scale = 0;     // of the scores; 0: 1/sqrt(head_dim)
  bool causal = true;  // token t sees cache entries 0 … positions[t]; false: all `capacity` of them
                       // (a cache sliced to its filled part)
  Tensor workspace{};  // f32 scratch for split-KV, at least attention_workspace() elements;
                       // undefined: allocated from the pool
};

// out[t, h, :] = sum_j softmax_j(scale * q[t, h, :] · k[s, h', j, :]) * v[s, h', j, :], where
// s = sequences[t], h' = h / (heads / kv_heads), and j runs over 0 … positions[t].
// One function serves prefill (many tokens of a sequence) and decode (one token a sequence): the
// number of cache entries is read on the device, so a captured launch stays valid as they grow.
//   q           [tokens, heads, head_dim], f32, f16, bf16; strides free but the last
//   cache       see KeyValueCache; head_dim 32 … 256, a multiple of 8
//   positions, sequences  [tokens] i32 (a negative position, or no such sequence: output 0)
//   out         [tokens, heads, head_dim], f32, f16, bf16
// Online softmax in float32 (Milakov and Gimelshein, 2018; Dao, FlashAttention-2, 2023). Run-to-run
// deterministic.
void attention_into(const Tensor& out, const Tensor& q, const KeyValueCache& cache,
                    const Tensor& positions, const Tensor& sequences,
                    const AttentionOptions& options, const Stream& stream);
// Floats of scratch that attention_into wants for these sizes.
std::int64_t attention_workspace(std::int64_t tokens, std::int64_t heads, std::int64_t head_dim,
                                 std::int64_t capacity, Device device);

}  // namespace tilewright
