// SPDX-License-Identifier: Apache-2.0
// The walk of elementwise kernels. kVectors: eight neighbours a thread through 16-byte accesses,
// for the layouts that pointwise_launch.h finds fit; else eight elements a block apart, so that the
// lanes of a warp share sectors whatever the alignment and the strides.
#pragma once

#include "tilewright/device/core/vec8.h"
#include "tilewright/device/ptx/griddepcontrol.h"
#include "tilewright/ops/_core/pointwise_layout.h"

namespace tilewright {

inline constexpr int kPointwiseThreads = 256;

template <int kOperands>
struct PointwiseOffsets {
  int64_t at[kOperands];
};

// Offsets of element `index` of the result in every operand.
template <int kOperands>
TW_DEVICE PointwiseOffsets<kOperands> pointwise_offsets(const PointwiseLayout<kOperands>& layout,
                                                        int64_t index) {
  PointwiseOffsets<kOperands> offsets = {};
  for (int axis = layout.rank - 1; axis > 0; --axis) {
    const int64_t extent = layout.extents[axis];
    // 64-bit division costs some hundred instructions; most tensors need none.
    const int64_t rest = ((index | extent) >> 32) == 0 ? int64_t(uint32_t(index) / uint32_t(extent))
                                                       : index / extent;
    const int64_t coordinate = index - rest * extent;
    TW_UNROLL
    for (int k = 0; k < kOperands; ++k) offsets.at[k] += coordinate * layout.strides[k][axis];
    index = rest;
  }
  TW_UNROLL
  for (int k = 0; k < kOperands; ++k) offsets.at[k] += index * layout.strides[k][0];
  return offsets;
}

// Work has   Vec8<C> load(offsets, count): the results of `count` <= 8 neighbours,
//            void store(offsets, count, Vec8<C>),      C one(offsets),   void one(offsets, C).
// All loads of a thread come before its stores.
template <bool kVectors, int kOperands, class Work>
TW_DEVICE void pointwise(const PointwiseLayout<kOperands>& layout, const Work& work) {
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  const int64_t block = int64_t(blockIdx.x) * (kPointwiseThreads * kVec8);
  if constexpr (kVectors) {
    const int64_t index = block + int64_t(threadIdx.x) * kVec8;
    if (index >= layout.count) return;
    const auto offsets = pointwise_offsets(layout, index);
    work.store(offsets, layout.count - index, work.load(offsets, layout.count - index));
  } else {
    PointwiseOffsets<kOperands> offsets[kVec8];
    typename Work::Compute results[kVec8];
    const int64_t first = block + int64_t(threadIdx.x);
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) {
      if (first + i * kPointwiseThreads >= layout.count) continue;
      offsets[i] = pointwise_offsets(layout, first + i * kPointwiseThreads);
      results[i] = work.one(offsets[i]);
    }
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) {
      if (first + i * kPointwiseThreads < layout.count) work.one(offsets[i], results[i]);
    }
  }
}

template <class Y, class X, class Function>
struct UnaryWork {
  using Compute = ComputeType<X>;
  using Offsets = PointwiseOffsets<2>;
  Y* y;
  const X* x;
  Function function;

  TW_DEVICE Vec8<Compute> load(const Offsets& offsets, int64_t count) const {
    Vec8<Compute> values = load8(x + offsets.at[1], count, true);
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) values.value[i] = function(values.value[i]);
    return values;
  }
  TW_DEVICE void store(const Offsets& offsets, int64_t count, const Vec8<Compute>& values) const {
    store8(y + offsets.at[0], count, true, values);
  }
  TW_DEVICE Compute one(const Offsets& offsets) const {
    return function(load_value(x + offsets.at[1]));
  }
  TW_DEVICE void one(const Offsets& offsets, Compute value) const {
    store_value(y + offsets.at[0], value);
  }
};

template <class Y, class A, class B, class Function>
struct BinaryWork {
  using Compute = ComputeType<A>;
  using Offsets = PointwiseOffsets<3>;
  Y* y;
  const A* a;
  const B* b;
  Function function;

  TW_DEVICE Vec8<Compute> load(const Offsets& offsets, int64_t count) const {
    Vec8<Compute> left = load8(a + offsets.at[1], count, true);
    const Vec8<Compute> right = load8(b + offsets.at[2], count, true);
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) left.value[i] = function(left.value[i], right.value[i]);
    return left;
  }
  TW_DEVICE void store(const Offsets& offsets, int64_t count, const Vec8<Compute>& values) const {
    store8(y + offsets.at[0], count, true, values);
  }
  TW_DEVICE Compute one(const Offsets& offsets) const {
    return function(load_value(a + offsets.at[1]), load_value(b + offsets.at[2]));
  }
  TW_DEVICE void one(const Offsets& offsets, Compute value) const {
    store_value(y + offsets.at[0], value);
  }
};

}  // namespace tilewright
