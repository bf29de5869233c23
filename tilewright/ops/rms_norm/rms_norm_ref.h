// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace tilewright::ref {

inline std::vector<double> rms_norm(const std::vector<double>& x, const std::vector<double>& weight,
                                    std::int64_t rows, std::int64_t cols, double eps) {
  std::vector<double> y(x.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* in = x.data() + r * cols;
    double squares = 0;
    for (std::int64_t c = 0; c < cols; ++c) squares += in[c] * in[c];
    const double root = std::sqrt(squares / double(cols) + eps);
    for (std::int64_t c = 0; c < cols; ++c) {
      y[std::size_t(r * cols + c)] = in[c] / root * weight[std::size_t(c)];
    }
  }
  return y;
}

}  // namespace tilewright::ref
