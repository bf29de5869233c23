// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/sampling/sampling_args.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Draws one token a row from softmax(logits / temperature), cut down first by top-k, then top-p,
// then min-p (each on the distribution that the one before left, renormalised):
//   top_k        keep the k largest (0: all; ties with the k-th are all kept)
//   top_p        keep the fewest largest whose probability reaches p (>= 1: all; ties likewise)
//   min_p        keep those with at least p times the largest probability (0: all)
//   temperature  0: the first largest logit, the rest is ignored
// The draw is argmax(logit / temperature + Gumbel noise) over what is kept, with noise from
// Philox4x32-10 keyed by `seed` at counter (position, token): it depends on neither the batch nor
// the device, nor on the order of the sums. Source: Salmon et al., "Parallel Random Numbers", 2011.
//   logits     [rows, vocab] f32, last axis contiguous
//   params     [rows * sizeof(SamplingParams)] u8: one SamplingParams a row, on the device
//   positions  [rows] i32, the counter      tokens  [rows] i32, the result
void sample_into(const Tensor& tokens, const Tensor& logits, const Tensor& params,
                 const Tensor& positions, const Stream& stream);

}  // namespace tilewright
