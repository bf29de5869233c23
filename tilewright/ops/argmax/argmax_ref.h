// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace tilewright::ref {

// The first largest of each row; NaN counts as larger than all.
inline std::vector<double> argmax(const std::vector<double>& x, std::int64_t rows,
                                  std::int64_t cols) {
  std::vector<double> indices(static_cast<std::size_t>(rows));
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < cols; ++c) {
      const double value = x[std::size_t(r * cols + c)], leader = x[std::size_t(r * cols + best)];
      if (!std::isnan(leader) && (std::isnan(value) || value > leader)) best = c;
    }
    indices[std::size_t(r)] = double(best);
  }
  return indices;
}

}  // namespace tilewright::ref
