// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace tilewright::ref {

inline std::vector<double> softmax(const std::vector<double>& x, std::int64_t rows,
                                   std::int64_t cols) {
  std::vector<double> y(x.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* in = x.data() + r * cols;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) largest = std::max(largest, in[c]);
    const double center = std::isinf(largest) && largest < 0 ? 0 : largest;
    for (std::int64_t c = 0; c < cols; ++c) sum += std::exp(in[c] - center);
    for (std::int64_t c = 0; c < cols; ++c) {
      y[std::size_t(r * cols + c)] = sum == 0 ? 0 : std::exp(in[c] - center) / sum;
    }
  }
  return y;
}

}  // namespace tilewright::ref
