// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/tensor.h"

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/runtime/tensor_layout.h"

namespace tilewright {

namespace {

void check_layout(const char* what, const Shape& shape, const Shape& strides, DType dtype) {
  TW_CHECK(shape.rank() == strides.rank(), InvalidArgument, what, ": shape ", shape, " has rank ",
           shape.rank(), " and strides ", strides, " rank ", strides.rank());
  element_count(shape);
  if (!is_block_type(dtype)) return;
  const int block = info(dtype).block;
  TW_CHECK(shape.rank() > 0 && shape[-1] % block == 0, InvalidArgument, what, ": shape ", shape,
           " of ", dtype, ": the last axis must fill whole blocks of ", block);
  TW_CHECK(shape[-1] == 0 || strides[-1] == 1, InvalidArgument, what, ": ", dtype,
           " needs a contiguous last axis; strides are ", strides);
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) {
    TW_CHECK(strides[axis] % block == 0, InvalidArgument, what, ": stride ", strides[axis],
             " of axis ", axis, " is no multiple of the block of ", block, " elements of ", dtype);
  }
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype, const Stream& stream) {
  const Shape strides = contiguous_strides(shape);
  check_layout("Tensor::empty", shape, strides, dtype);
  Tensor result;
  result.dtype_ = dtype;
  result.shape_ = shape;
  result.strides_ = strides;
  result.buffer_ = Buffer::allocate(stream, bytes_of(dtype, element_count(shape)));
  return result;
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, const Stream& stream) {
  Tensor result = empty(shape, dtype, stream);
  fill_bytes(result.data(), stream.device(), 0, result.bytes(), stream);
  return result;
}

Tensor Tensor::wrap(void* data, const Shape& shape, DType dtype, Device device,
                    std::shared_ptr<const void> owner) {
  return wrap(data, shape, contiguous_strides(shape), dtype, device, std::move(owner));
}

Tensor Tensor::wrap(void* data, const Shape& shape, const Shape& strides, DType dtype,
                    Device device, std::shared_ptr<const void> owner) {
  check_layout("Tensor::wrap", shape, strides, dtype);
  TW_CHECK(data != nullptr || element_count(shape) == 0, InvalidArgument,
           "Tensor::wrap: null pointer for shape ", shape);
  Tensor result;
  result.dtype_ = dtype;
  result.shape_ = shape;
  result.strides_ = strides;
  result.buffer_ = Buffer::wrap(device, data, span_bytes(shape, strides, dtype), std::move(owner));
  return result;
}

Tensor Tensor::from_host(const void* values, const Shape& shape, DType dtype,
                         const Stream& stream) {
  Tensor result = empty(shape, dtype, stream);
  copy_bytes(result.data(), stream.device(), values, Device::cpu(), result.bytes(), stream);
  // Pinned memory would be read later, and the caller may reuse it at once.
  if (!stream.device().is_cpu()) stream.synchronize();
  return result;
}

std::int64_t Tensor::numel() const { return element_count(shape_); }
std::size_t Tensor::bytes() const { return defined() ? bytes_of(dtype_, numel()) : 0; }
Device Tensor::device() const { return buffer_.device(); }

bool Tensor::contiguous() const {
  if (numel() == 0) return true;
  std::int64_t step = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (shape_[axis] != 1 && strides_[axis] != step) return false;
    step *= shape_[axis];
  }
  return true;
}

void* Tensor::data() const {
  void* base = buffer_.data();
  return base == nullptr ? nullptr : static_cast<char*>(base) + offset_bytes_;
}

Tensor Tensor::to(const Stream& stream) const {
  TW_CHECK(defined(), InvalidArgument, "Tensor::to: the tensor is undefined");
  Tensor result = empty(shape_, dtype_, stream);
  copy(result, *this, stream);
  return result;
}

void Tensor::to_host(void* values, const Stream& stream) const {
  TW_CHECK(!stream.capturing(), InvalidArgument,
           "Tensor::to_host: waits for the result, which a graph capture does not allow");
  copy(wrap(values, shape_, dtype_, Device::cpu()), *this, stream);
  stream.synchronize();
}

std::string Tensor::describe() const {
  if (!defined()) return "undefined tensor";
  const std::string layout = contiguous() ? "" : str(" strides ", strides_);
  return str(dtype_, " ", shape_, layout, " on ", device());
}

Tensor empty_like(const Tensor& other, const Stream& stream) {
  return Tensor::empty(other.shape(), other.dtype(), stream);
}

}  // namespace tilewright
