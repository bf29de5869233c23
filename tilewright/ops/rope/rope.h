// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tilewright/runtime/tensor.h"

namespace tilewright {

enum class RopePairing { kInterleaved, kHalf };  // (2i, 2i+1) or (i, i + D/2)

struct RopeScaling {
  enum class Kind { kNone, kLinear, kLlama3 } kind = Kind::kNone;
  float factor = 1;
  float low_frequency_factor = 1, high_frequency_factor = 4;  // llama3
  float original_context = 8192;                              // llama3
};

// Angle in radians per position of each of the dim/2 pairs: base^(-2i/dim), divided by `factor`
// (linear), or by `factor` for wavelengths past original_context/low_frequency_factor, kept for
// those under original_context/high_frequency_factor, and blended between (llama3).
std::vector<float> rope_frequencies(int dim, float base, const RopeScaling& scaling);

// Rotates pairs of the first `2 * frequencies` elements of each head by positions[t] * frequency.
// Source: Su et al., "RoFormer", 2021.
//   x            [tokens, heads, head_dim], in place; any strides but the last axis
//   positions    [tokens] i32      frequencies  [rotated/2] f32
void rope_(const Tensor& x, const Tensor& positions, const Tensor& frequencies,
           RopePairing pairing, const Stream& stream);

// Where the keys and values of a token go, and how they are read by attention.
struct KeyValueCache {
  Tensor keys, values;  // [sequences, kv_heads, capacity, head_dim], f32, f16 or bf16
};

// Splits qkv [tokens, (heads + 2 * kv_heads) * head_dim] (q, then k, then v): rotates q in place,
// and writes rotated k, and v, to cache[sequences[t], :, positions[t], :]. With `frequencies`
// undefined nothing is rotated (GPT-2). positions, sequences: [tokens] i32. A position outside the
// capacity is not written (callers check lengths on the host).
void rope_append_(const Tensor& qkv, const KeyValueCache& cache, const Tensor& positions,
                  const Tensor& sequences, const Tensor& frequencies, RopePairing pairing,
                  const Stream& stream);

}  // namespace tilewright
