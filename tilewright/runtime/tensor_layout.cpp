// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/tensor_layout.h"

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright {

std::int64_t stride_bytes(DType dtype, std::int64_t elements) {
  const DTypeInfo& type = info(dtype);
  return elements / type.block * type.bytes;
}

std::size_t span_bytes(const Shape& shape, const Shape& strides, DType dtype) {
  if (element_count(shape) == 0) return 0;
  std::int64_t last = 0;
  bool overflow = false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    std::int64_t reach = 0;
    overflow |=
        __builtin_mul_overflow(shape[axis] - 1, std::max<std::int64_t>(strides[axis], 0), &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  const std::int64_t block = info(dtype).block;
  TW_CHECK(!overflow && last <= INT64_MAX - block, InvalidArgument, "shape ", shape,
           " with strides ", strides, " overflows the address space");
  return bytes_of(dtype, (last + block) / block * block);
}

std::optional<Shape> reshaped_strides(const Shape& shape, const Shape& strides,
                                      const Shape& wanted) {
  if (element_count(shape) == 0) return contiguous_strides(wanted);
  // Runs of old axes that step evenly; each wanted axis is cut from the innermost run that is left.
  Shape extents, steps;  // innermost first
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    if (extents.rank() > 0 && strides[axis] == extents[-1] * steps[-1]) {
      extents[-1] *= shape[axis];
    } else {
      extents.push_back(shape[axis]);
      steps.push_back(strides[axis]);
    }
  }
  Shape result = wanted;
  int run = 0;
  for (int axis = wanted.rank() - 1; axis >= 0; --axis) {
    if (run < extents.rank() && extents[run] == 1) ++run;
    if (wanted[axis] == 1) {
      result[axis] = run < extents.rank() ? steps[run] : 1;
      continue;
    }
    if (run == extents.rank() || extents[run] % wanted[axis] != 0) return std::nullopt;
    result[axis] = steps[run];
    steps[run] *= wanted[axis];
    extents[run] /= wanted[axis];
  }
  return result;
}

detail::StridedCopy merged(const Shape& shape, const Shape& to_strides, const Shape& from_strides,
                           DType dtype) {
  const DTypeInfo& type = info(dtype);
  Shape extents, to, from;  // innermost first
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    // A block is one unit: the last axis counts blocks, and is contiguous.
    const bool blocks = type.block > 1 && axis == shape.rank() - 1;
    const std::int64_t extent = blocks ? shape[axis] / type.block : shape[axis];
    const std::int64_t to_step = blocks ? type.bytes : stride_bytes(dtype, to_strides[axis]);
    const std::int64_t from_step = blocks ? type.bytes : stride_bytes(dtype, from_strides[axis]);
    if (extent == 1) continue;
    const bool joins = extents.rank() > 0 && to_step == to[-1] * extents[-1] &&
                       from_step == from[-1] * extents[-1];
    if (joins) {
      extents[-1] *= extent;
      continue;
    }
    extents.push_back(extent);
    to.push_back(to_step);
    from.push_back(from_step);
  }
  detail::StridedCopy result;
  result.unit = type.bytes;
  for (int axis = extents.rank() - 1; axis >= 0; --axis) {
    result.extents.push_back(extents[axis]);
    result.to_strides.push_back(to[axis]);
    result.from_strides.push_back(from[axis]);
  }
  return result;
}

}  // namespace tilewright
