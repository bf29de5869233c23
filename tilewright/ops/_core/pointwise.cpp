// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/pointwise.h"

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

// Stride of `operand` along y's `axis`: 0 where it is broadcast.
std::int64_t broadcast_stride(const char* op, const Tensor& y, const Tensor& operand, int axis) {
  const int own = axis - (y.rank() - operand.rank());
  if (own < 0 || (operand.size(own) == 1 && y.size(axis) != 1)) return 0;
  TW_CHECK(operand.size(own) == y.size(axis), InvalidArgument, op, ": got an operand of shape ",
           operand.shape(), " for a result of shape ", y.shape(),
           "; takes shapes that broadcast to the result's");
  return operand.stride(own);
}

template <int kOperands>
bool can_merge(const PointwiseLayout<kOperands>& layout, int outer, std::int64_t extent,
               const std::int64_t (&strides)[kOperands]) {
  for (int k = 0; k < kOperands; ++k) {
    if (layout.strides[k][outer] != strides[k] * extent) return false;
  }
  return true;
}

template <int kOperands>
PointwiseLayout<kOperands> layout_of(const char* op, const Tensor* const (&operands)[kOperands]) {
  const Tensor& y = *operands[0];
  for (const Tensor* operand : operands) {
    TW_CHECK(operand->rank() <= y.rank(), InvalidArgument, op, ": got an operand of shape ",
             operand->shape(), " for a result of shape ", y.shape(),
             "; takes shapes that broadcast to the result's");
  }
  PointwiseLayout<kOperands> layout{};
  layout.count = y.numel();
  for (int axis = 0; axis < y.rank(); ++axis) {
    std::int64_t strides[kOperands];
    for (int k = 0; k < kOperands; ++k) strides[k] = broadcast_stride(op, y, *operands[k], axis);
    const std::int64_t extent = y.size(axis);
    if (extent == 1) continue;
    int slot = layout.rank - 1;
    if (layout.rank > 0 && can_merge(layout, slot, extent, strides)) {
      layout.extents[slot] *= extent;
    } else {
      slot = layout.rank++;
      layout.extents[slot] = extent;
    }
    for (int k = 0; k < kOperands; ++k) layout.strides[k][slot] = strides[k];
  }
  if (layout.rank == 0) {
    layout.rank = 1;
    layout.extents[0] = 1;
    for (int k = 0; k < kOperands; ++k) layout.strides[k][0] = 1;
  }
  return layout;
}

}  // namespace

PointwiseLayout<2> pointwise_layout(const char* op, const Tensor& y, const Tensor& x) {
  return layout_of<2>(op, {&y, &x});
}

PointwiseLayout<3> pointwise_layout(const char* op, const Tensor& y, const Tensor& a,
                                    const Tensor& b) {
  return layout_of<3>(op, {&y, &a, &b});
}

}  // namespace tilewright
