// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/shape.h"

#include <algorithm>
#include <ostream>

#include "tilewright/base/error.h"

namespace tilewright {

Shape::Shape(std::initializer_list<std::int64_t> extents)
    : Shape(std::span<const std::int64_t>(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const std::int64_t> extents) {
  for (const std::int64_t extent : extents) push_back(extent);
}

void Shape::push_back(std::int64_t extent) {
  TW_CHECK(rank_ < kMaxRank, InvalidArgument, "more than ", kMaxRank, " dimensions");
  extents_[static_cast<std::size_t>(rank_++)] = extent;
}

std::size_t Shape::index(int axis) const {
  const int from_start = axis < 0 ? axis + rank_ : axis;
  TW_CHECK(from_start >= 0 && from_start < rank_, InvalidArgument, "axis ", axis,
           " is out of range for rank ", rank_);
  return static_cast<std::size_t>(from_start);
}

bool Shape::operator==(const Shape& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  bool overflow = false;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    TW_CHECK(extent >= 0, InvalidArgument, "negative extent in shape ", shape);
    if (extent == 0)
      empty = true;
    else
      overflow |= __builtin_mul_overflow(count, extent, &count);
  }
  TW_CHECK(empty || !overflow, InvalidArgument, "shape ", shape, " has too many elements");
  return empty ? 0 : count;
}

Shape contiguous_strides(const Shape& shape) {
  Shape strides = shape;
  std::int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = step;
    // Shapes that overflow are refused by element_count(), or have no elements to step over.
    if (__builtin_mul_overflow(step, std::max<std::int64_t>(shape[axis], 1), &step))
      step = INT64_MAX;
  }
  return strides;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int axis = 0; axis < shape.rank(); ++axis) out << (axis ? ", " : "") << shape[axis];
  return out << ']';
}

}  // namespace tilewright
