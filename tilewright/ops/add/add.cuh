// SPDX-License-Identifier: Apache-2.0
// y = a + b. Bound: memory.
#pragma once

#include "tilewright/ops/_core/pointwise.cuh"
#include "tilewright/ops/add/add_args.h"

namespace tilewright {

struct Sum {
  TW_DEVICE float operator()(float a, float b) const { return a + b; }
  // Unsigned: signed overflow is undefined, and i32 wraps.
  TW_DEVICE int32_t operator()(int32_t a, int32_t b) const {
    return int32_t(uint32_t(a) + uint32_t(b));
  }
};

template <class Y, class A, class B, bool kVectors>
TW_KERNEL(kPointwiseThreads)
add_elements(const TW_GRID_CONSTANT AddArgs args) {
  const BinaryWork<Y, A, B, Sum> work = {static_cast<Y*>(args.y), static_cast<const A*>(args.a),
                                         static_cast<const B*>(args.b), Sum()};
  pointwise<kVectors>(args.layout, work);
}

}  // namespace tilewright
