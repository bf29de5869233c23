// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Where the keys and values of a token go, and how they are read by attention.
struct KeyValueCache {
  Tensor keys, values;  // [sequences, kv_heads, capacity, head_dim], f32, f16 or bf16
};

// The fields of a cache in the arguments of the kernels that write it and that read it.
template <class Args>
void set_cache(Args& args, const KeyValueCache& cache) {
  args.keys = cache.keys.data();
  args.values = cache.values.data();
  args.sequence_count = cache.keys.size(0);
  args.kv_heads = cache.keys.size(1);
  args.capacity = cache.keys.size(2);
  args.head_dim = cache.keys.size(3);
  args.key_sequence_stride = cache.keys.stride(0);
  args.key_head_stride = cache.keys.stride(1);
  args.key_stride = cache.keys.stride(2);
  args.value_sequence_stride = cache.values.stride(0);
  args.value_head_stride = cache.values.stride(1);
  args.value_stride = cache.values.stride(2);
}

}  // namespace tilewright
