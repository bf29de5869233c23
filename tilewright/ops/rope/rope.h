// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/rope/key_value_cache.h"
#include "tilewright/ops/rope/rope_frequencies.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Rotates pairs of the first `2 * frequencies` elements of each head by positions[t] * frequency.
// Source: Su et al., "RoFormer", 2021.
//   x            [tokens, heads, head_dim], in place; any strides but the last axis
//   positions    [tokens] i32      frequencies  [rotated/2] f32
void rope_(const Tensor& x, const Tensor& positions, const Tensor& frequencies, RopePairing pairing,
           const Stream& stream);

// Splits qkv [tokens, (heads + 2 * kv_heads) * head_dim] (q, then k, then v): rotates q in place,
// and writes rotated k, and v, to cache[sequences[t], :, positions[t], :]. With `frequencies`
// undefined nothing is rotated (GPT-2). positions, sequences: [tokens] i32. A position outside the
// capacity is not written (callers check lengths on the host).
void rope_append_(const Tensor& qkv, const KeyValueCache& cache, const Tensor& positions,
                  const Tensor& sequences, const Tensor& frequencies, RopePairing pairing,
                  const Stream& stream);

}  // namespace tilewright
