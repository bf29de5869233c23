// SPDX-License-Identifier: Apache-2.0
// Arithmetic of shapes and strides, free of devices.
#pragma once

#include <optional>

#include "tilewright/base/dtype.h"
#include "tilewright/base/shape.h"
#include "tilewright/runtime/backend.h"

namespace tilewright {

// Bytes from the first element to the end of the last one; negative strides add none.
std::size_t span_bytes(const Shape& shape, const Shape& strides, DType dtype);
// Bytes that `elements` of a stride or an offset span; whole blocks.
std::int64_t stride_bytes(DType dtype, std::int64_t elements);
// Strides that show the same elements, in row-major order, as `wanted`; nullopt when none do.
std::optional<Shape> reshaped_strides(const Shape& shape, const Shape& strides,
                                      const Shape& wanted);
// Axes of extent 1 dropped and neighbours merged where both sides step evenly.
detail::StridedCopy merged(const Shape& shape, const Shape& to_strides, const Shape& from_strides,
                           DType dtype);

}  // namespace tilewright
