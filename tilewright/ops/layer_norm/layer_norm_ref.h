// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace tilewright::ref {

// An empty bias adds nothing.
inline std::vector<double> layer_norm(const std::vector<double>& x,
                                      const std::vector<double>& weight,
                                      const std::vector<double>& bias, std::int64_t rows,
                                      std::int64_t cols, double eps) {
  std::vector<double> y(x.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* in = x.data() + r * cols;
    double sum = 0, squares = 0;
    for (std::int64_t c = 0; c < cols; ++c) sum += in[c];
    const double mean = sum / double(cols);
    for (std::int64_t c = 0; c < cols; ++c) squares += (in[c] - mean) * (in[c] - mean);
    const double root = std::sqrt(squares / double(cols) + eps);
    for (std::int64_t c = 0; c < cols; ++c) {
      const double scaled = (in[c] - mean) / root * weight[std::size_t(c)];
      y[std::size_t(r * cols + c)] = scaled + (bias.empty() ? 0 : bias[std::size_t(c)]);
    }
  }
  return y;
}

}  // namespace tilewright::ref
