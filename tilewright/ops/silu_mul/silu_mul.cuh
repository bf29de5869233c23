// SPDX-License-Identifier: Apache-2.0
// y = gate / (1 + exp(-gate)) * up. Bound: memory.
#pragma once

#include "tilewright/ops/_core/pointwise.cuh"
#include "tilewright/ops/silu_mul/silu_mul_pointwise_args.h"

namespace tilewright {

struct SiluMul {
  TW_DEVICE float operator()(float gate, float up) const {
    const float silu = gate < -1e30f ? 0.0f : gate / (1.0f + expf(-gate));  // -inf over inf is NaN
    return silu * up;
  }
};

template <class Y, class Gate, class Up, bool kVectors>
TW_KERNEL(kPointwiseThreads)
silu_mul_elements(const TW_GRID_CONSTANT SiluMulPointwiseArgs args) {
  const BinaryWork<Y, Gate, Up, SiluMul> work = {static_cast<Y*>(args.y),
                                                 static_cast<const Gate*>(args.gate),
                                                 static_cast<const Up*>(args.up), SiluMul()};
  pointwise<kVectors>(args.layout, work);
}

}  // namespace tilewright
