// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace tilewright::ref {

// One query against entries 0 … count - 1 of a key/value head; zeros when count is 0.
inline std::vector<double> attend(const double* q, const double* keys, const double* values,
                                  std::int64_t count, std::int64_t head_dim, double scale) {
  std::vector<double> scores(static_cast<std::size_t>(count)), out(std::size_t(head_dim), 0.0);
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    double dot = 0;
    for (std::int64_t i = 0; i < head_dim; ++i) dot += q[i] * keys[j * head_dim + i];
    scores[std::size_t(j)] = dot * scale;
    largest = std::max(largest, dot * scale);
  }
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (std::int64_t j = 0; j < count; ++j) {
    const double weight = scores[std::size_t(j)] / sum;
    for (std::int64_t i = 0; i < head_dim; ++i) {
      out[std::size_t(i)] += weight * values[j * head_dim + i];
    }
  }
  return out;
}

}  // namespace tilewright::ref
