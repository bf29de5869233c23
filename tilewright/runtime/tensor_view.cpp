// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/error.h"
#include "tilewright/runtime/tensor.h"
#include "tilewright/runtime/tensor_layout.h"

namespace tilewright {
namespace {

int axis_of(const Tensor& tensor, int axis, const char* what) {
  const int found = axis < 0 ? axis + tensor.rank() : axis;
  TW_CHECK(found >= 0 && found < tensor.rank(), InvalidArgument, what, ": axis ", axis,
           " is out of range for ", tensor.describe());
  return found;
}

// Blocks lie along the last axis: it must stay the last one.
void keep_last_axis(const Tensor& tensor, bool kept, const char* what) {
  TW_CHECK(kept || !is_block_type(tensor.dtype()), InvalidArgument, what, ": ", tensor.describe(),
           ": the last axis holds blocks and cannot be moved, dropped or repeated");
}

Shape without(const Shape& shape, int axis) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != axis) result.push_back(shape[i]);
  }
  return result;
}

Shape with(const Shape& shape, int axis, std::int64_t value) {
  Shape result;
  for (int i = 0; i <= shape.rank(); ++i) {
    if (i == axis) result.push_back(value);
    if (i < shape.rank()) result.push_back(shape[i]);
  }
  return result;
}

// One extent may be -1: whatever the others leave.
Shape completed(const Tensor& tensor, const Shape& wanted) {
  int open = -1;
  std::int64_t known = 1;
  for (int axis = 0; axis < wanted.rank(); ++axis) {
    if (wanted[axis] != -1) {
      known *= wanted[axis];
      continue;
    }
    TW_CHECK(open < 0, InvalidArgument, "Tensor::view: more than one -1 in ", wanted);
    open = axis;
  }
  if (open < 0) return wanted;
  TW_CHECK(known > 0 && tensor.numel() % known == 0, InvalidArgument,
           "Tensor::view: ", tensor.describe(), " cannot be seen as ", wanted);
  Shape result = wanted;
  result[open] = tensor.numel() / known;
  return result;
}

}  // namespace

Tensor Tensor::view(const Shape& wanted) const {
  const Shape shape = completed(*this, wanted);
  TW_CHECK(element_count(shape) == numel(), InvalidArgument, "Tensor::view: ", describe(), " has ",
           numel(), " elements and ", wanted, " has ", element_count(shape));
  const bool whole_blocks = shape.rank() > 0 && shape[-1] % info(dtype_).block == 0;
  keep_last_axis(*this, whole_blocks, "Tensor::view");
  const auto strides = reshaped_strides(shape_, strides_, shape);
  TW_CHECK(strides.has_value(), InvalidArgument, "Tensor::view: ", describe(),
           " cannot be seen as ", wanted, " without a copy; call to(stream) first");
  Tensor result = *this;
  result.shape_ = shape;
  result.strides_ = *strides;
  return result;
}

Tensor Tensor::slice(int axis, std::int64_t begin, std::int64_t end, std::int64_t step) const {
  axis = axis_of(*this, axis, "Tensor::slice");
  TW_CHECK(step > 0, InvalidArgument, "Tensor::slice: step is ", step, ", wants at least 1");
  TW_CHECK(0 <= begin && begin <= end && end <= shape_[axis], InvalidArgument,
           "Tensor::slice: range [", begin, ", ", end, ") is not within axis ", axis, " of ",
           describe());
  const std::int64_t block = info(dtype_).block;
  if (axis == rank() - 1) {
    TW_CHECK(block == 1 || (begin % block == 0 && end % block == 0 && step == 1), InvalidArgument,
             "Tensor::slice: ", describe(), ": the last axis is cut in whole blocks of ", block);
  }
  Tensor result = *this;
  result.shape_[axis] = (end - begin + step - 1) / step;
  result.strides_[axis] = strides_[axis] * step;
  if (result.numel() > 0) result.offset_bytes_ += stride_bytes(dtype_, begin * strides_[axis]);
  return result;
}

Tensor Tensor::select(int axis, std::int64_t index) const {
  axis = axis_of(*this, axis, "Tensor::select");
  TW_CHECK(index >= 0 && index < shape_[axis], InvalidArgument, "Tensor::select: index ", index,
           " is not within axis ", axis, " of ", describe());
  keep_last_axis(*this, axis != rank() - 1, "Tensor::select");
  Tensor result = slice(axis, index, index + 1);
  result.shape_ = without(shape_, axis);
  result.strides_ = without(strides_, axis);
  return result;
}

Tensor Tensor::transpose(int first, int second) const {
  first = axis_of(*this, first, "Tensor::transpose");
  second = axis_of(*this, second, "Tensor::transpose");
  keep_last_axis(*this, first == second || (first != rank() - 1 && second != rank() - 1),
                 "Tensor::transpose");
  Tensor result = *this;
  std::swap(result.shape_[first], result.shape_[second]);
  std::swap(result.strides_[first], result.strides_[second]);
  return result;
}

Tensor Tensor::permute(const Shape& axes) const {
  TW_CHECK(axes.rank() == rank(), InvalidArgument, "Tensor::permute: ", axes, " does not name the ",
           rank(), " axes of ", describe());
  Tensor result = *this;
  unsigned seen = 0;
  for (int axis = 0; axis < rank(); ++axis) {
    const int from = axis_of(*this, int(axes[axis]), "Tensor::permute");
    TW_CHECK((seen & (1u << from)) == 0, InvalidArgument, "Tensor::permute: axis ", from,
             " appears twice in ", axes);
    seen |= 1u << from;
    result.shape_[axis] = shape_[from];
    result.strides_[axis] = strides_[from];
    if (axis == rank() - 1) keep_last_axis(*this, from == axis, "Tensor::permute");
  }
  return result;
}

Tensor Tensor::broadcast_to(const Shape& shape) const {
  TW_CHECK(shape.rank() >= rank(), InvalidArgument, "Tensor::broadcast_to: ", describe(),
           " has more axes than ", shape);
  Tensor result = *this;
  result.shape_ = shape;
  result.strides_ = shape;
  const int added = shape.rank() - rank();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t extent = axis < added ? 1 : shape_[axis - added];
    TW_CHECK(extent == shape[axis] || extent == 1, InvalidArgument,
             "Tensor::broadcast_to: ", describe(), " does not broadcast to ", shape, " (axis ",
             axis, ")");
    const bool repeated = extent == 1 && shape[axis] != 1;
    result.strides_[axis] = axis < added || repeated ? 0 : strides_[axis - added];
  }
  keep_last_axis(*this, rank() > 0 && shape_[-1] == shape[-1], "Tensor::broadcast_to");
  return result;
}

Tensor Tensor::unsqueeze(int axis) const {
  const int at = axis < 0 ? axis + rank() + 1 : axis;
  TW_CHECK(at >= 0 && at <= rank(), InvalidArgument, "Tensor::unsqueeze: axis ", axis,
           " is out of range for ", describe());
  keep_last_axis(*this, at != rank(), "Tensor::unsqueeze");
  Tensor result = *this;
  result.shape_ = with(shape_, at, 1);
  result.strides_ = with(strides_, at, at < rank() ? shape_[at] * strides_[at] : 1);
  return result;
}

Tensor Tensor::squeeze(int axis) const {
  axis = axis_of(*this, axis, "Tensor::squeeze");
  TW_CHECK(shape_[axis] == 1, InvalidArgument, "Tensor::squeeze: axis ", axis, " of ", describe(),
           " is not 1");
  return select(axis, 0);
}

Tensor Tensor::reinterpret(DType dtype) const {
  TW_CHECK(info(dtype).block == info(dtype_).block && info(dtype).bytes == info(dtype_).bytes,
           InvalidArgument, "Tensor::reinterpret: ", dtype_, " has ", info(dtype_).bytes,
           " bytes and ", dtype, " has ", info(dtype).bytes);
  Tensor result = *this;
  result.dtype_ = dtype;
  return result;
}

}  // namespace tilewright
