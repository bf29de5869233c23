// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tilewright/base/dtype.h"
#include "tilewright/base/shape.h"
#include "tilewright/runtime/memory.h"

namespace tilewright {

// dtype + shape + strides (in elements) over a shared buffer. Views are free; nothing here
// synchronises. Block types (q8_0 …) have logical shapes: the last axis is contiguous and its
// extent fills whole blocks.
class Tensor {
 public:
  Tensor() = default;
  static Tensor empty(const Shape& shape, DType dtype, const Stream& stream);
  static Tensor zeros(const Shape& shape, DType dtype, const Stream& stream);
  // Memory of the caller, contiguous unless strides are given; `owner` is kept alive.
  static Tensor wrap(void* data, const Shape& shape, DType dtype, Device device,
                     std::shared_ptr<const void> owner = nullptr);
  static Tensor wrap(void* data, const Shape& shape, const Shape& strides, DType dtype,
                     Device device, std::shared_ptr<const void> owner = nullptr);
  // Copies `count` host values to the stream's device; returns when they may be reused.
  static Tensor from_host(const void* values, const Shape& shape, DType dtype,
                          const Stream& stream);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Shape& strides() const { return strides_; }
  int rank() const { return shape_.rank(); }
  std::int64_t size(int axis) const { return shape_[axis]; }
  std::int64_t stride(int axis) const { return strides_[axis]; }
  std::int64_t numel() const;
  std::size_t bytes() const;  // of the elements, as if contiguous
  Device device() const;
  const Buffer& buffer() const { return buffer_; }
  bool defined() const { return bool(buffer_); }
  bool contiguous() const;
  void* data() const;  // of the first element
  template <class T>
  T* data_as() const {
    return static_cast<T*>(data());
  }

  // Views. Each throws InvalidArgument when the layout cannot be expressed with strides.
  Tensor view(const Shape& shape) const;
  Tensor slice(int axis, std::int64_t begin, std::int64_t end, std::int64_t step = 1) const;
  Tensor select(int axis, std::int64_t index) const;  // drops the axis
  Tensor transpose(int first, int second) const;
  Tensor permute(const Shape& axes) const;
  Tensor broadcast_to(const Shape& shape) const;
  Tensor unsqueeze(int axis) const;
  Tensor squeeze(int axis) const;
  Tensor reinterpret(DType dtype) const;  // same element size

  // A contiguous copy on the stream's device, from any device and any strides.
  Tensor to(const Stream& stream) const;
  // Contiguous copy of the elements in host memory; synchronises.
  void to_host(void* values, const Stream& stream) const;
  std::string describe() const;  // "f16 [2, 3] strides [3, 1] on cuda:0"

 private:
  Buffer buffer_;
  std::int64_t offset_bytes_ = 0;
  DType dtype_ = DType::f32;
  Shape shape_, strides_;
};

// Copies elements; shapes and dtypes equal, strides and devices may differ. Ordered on `stream`;
// on cuda a strided copy is one kernel or one 2-D copy.
void copy(const Tensor& destination, const Tensor& source, const Stream& stream);
Tensor empty_like(const Tensor& other, const Stream& stream);

}  // namespace tilewright
