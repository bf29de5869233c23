// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/base/shape.h"

namespace tilewright::ref {

// Index into a row-major array of `shape` of an element of a result of shape `y`.
inline std::int64_t broadcast_index(std::int64_t index, const Shape& y, const Shape& shape) {
  std::int64_t result = 0, step = 1;
  for (int axis = 1; axis <= y.rank(); ++axis) {
    const std::int64_t coordinate = index % y[-axis];
    index /= y[-axis];
    if (axis > shape.rank()) continue;
    if (shape[-axis] != 1) result += coordinate * step;
    step *= shape[-axis];
  }
  return result;
}

inline std::vector<double> add(const std::vector<double>& a, const Shape& a_shape,
                               const std::vector<double>& b, const Shape& b_shape,
                               const Shape& y_shape) {
  std::vector<double> y(static_cast<std::size_t>(element_count(y_shape)));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto index = std::int64_t(i);
    y[i] = a[std::size_t(broadcast_index(index, y_shape, a_shape))] +
           b[std::size_t(broadcast_index(index, y_shape, b_shape))];
  }
  return y;
}

}  // namespace tilewright::ref
