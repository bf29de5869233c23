// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace tilewright::ref {

inline std::vector<double> embedding(const std::vector<double>& table, std::int64_t vocab,
                                     std::int64_t dim, const std::vector<std::int32_t>& ids) {
  std::vector<double> y(ids.size() * std::size_t(dim), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] < 0 || ids[t] >= vocab) continue;
    for (std::int64_t c = 0; c < dim; ++c) {
      y[t * std::size_t(dim) + std::size_t(c)] = table[std::size_t(ids[t] * dim + c)];
    }
  }
  return y;
}

}  // namespace tilewright::ref
