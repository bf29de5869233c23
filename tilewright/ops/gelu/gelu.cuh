// SPDX-License-Identifier: Apache-2.0
// y = gelu(x). Bound: memory.
#pragma once

#include "tilewright/ops/_core/pointwise.cuh"
#include "tilewright/ops/gelu/gelu_args.h"

namespace tilewright {

template <bool kTanh>
struct Gelu {
  TW_DEVICE float operator()(float x) const {
    if (x < -1e30f) return 0.0f;  // -inf would be times 0
    if constexpr (kTanh) {
      // (1 + tanh u) / 2 = 1 / (1 + exp(-2u)), without the cancellation of the negative tail.
      const float u = 0.797884560802865f * (x + 0.044715f * x * x * x);
      return x / (1.0f + expf(-2.0f * u));
    } else {
      // erfc keeps its relative precision in the negative tail, where 1 + erf would cancel.
      return 0.5f * x * erfcf(-0.707106781186548f * x);
    }
  }
};

template <class Y, class X, bool kTanh, bool kVectors>
TW_KERNEL(kPointwiseThreads)
gelu_elements(const TW_GRID_CONSTANT GeluArgs args) {
  const UnaryWork<Y, X, Gelu<kTanh>> work = {static_cast<Y*>(args.y), static_cast<const X*>(args.x),
                                             Gelu<kTanh>()};
  pointwise<kVectors>(args.layout, work);
}

}  // namespace tilewright
