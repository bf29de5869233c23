// SPDX-License-Identifier: Apache-2.0
// linear in double precision, with a bound on the error that float32 arithmetic may add.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tilewright::ref {

struct LinearWeight {
  std::vector<float> values;  // [rows, k], the values of what is stored
  std::int64_t rows = 0;
  bool blocks = false;  // stored in blocks, so that x may be rounded for it
};

struct LinearProblem {
  std::int64_t m = 0, k = 0;
  std::vector<float> x;  // [m, k]
  std::vector<LinearWeight> weights;
  std::vector<float> bias, residual, norm_weight;  // empty when absent
  float norm_eps = 0;
  bool silu_pairs = false;
  bool round_x = false;  // to 8-bit blocks of 32 for block weights, as the cpu does
};

struct LinearExpected {
  std::vector<double> y, bound;  // [m, n]; |computed - y| <= bound before y is rounded to its dtype
};

constexpr double kFloatEps = 1.0 / (1 << 24);  // half a unit in the last place

// A row of x as the products see it. slack[i]: how far element i may be off because its rounding
// was a near tie, which the float arithmetic before it may decide otherwise.
struct LinearRow {
  std::vector<double> x, slack;
};

inline std::vector<double> normalised_row(const LinearProblem& p, std::int64_t row) {
  const auto begin = p.x.begin() + row * p.k;
  std::vector<double> x(begin, begin + p.k);
  if (p.norm_weight.empty() || p.k == 0) return x;
  double squares = 0;
  for (const double v : x) squares += v * v;
  const double scale = 1 / std::sqrt(squares / double(p.k) + double(p.norm_eps));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= scale * double(p.norm_weight[i]);
  return x;
}

// q = round(x / scale), scale = max |x| / 127 for each 32 elements.
inline LinearRow rounded_row(const std::vector<double>& x) {
  LinearRow row{x, std::vector<double>(x.size(), 0)};
  for (std::size_t first = 0; first < x.size(); first += 32) {
    double largest = 0;
    for (std::size_t i = first; i < first + 32; ++i) largest = std::max(largest, std::fabs(x[i]));
    if (largest == 0) continue;
    const double scale = largest / 127;
    for (std::size_t i = first; i < first + 32; ++i) {
      const double q = std::nearbyint(x[i] / scale);
      if (std::fabs(std::fabs(x[i] / scale - q) - 0.5) < 1e-3) row.slack[i] = scale;
      row.x[i] = q * scale;
    }
  }
  return row;
}

struct Product {
  double value = 0, bound = 0;
};

// Plain sums run over panels of 256 columns, block sums over blocks of 32, whose offset and scaled
// part may cancel: both are within the largest weight of the block.
inline Product product(const LinearProblem& p, const LinearRow& row, const LinearWeight& weight,
                       std::int64_t n) {
  Product out;
  double magnitude = 0;
  const float* w = weight.values.data() + n * p.k;
  for (std::int64_t i = 0; i < p.k; ++i) {
    const double v = row.x[std::size_t(i)];
    double largest = 0;
    if (weight.blocks)
      for (std::int64_t j = i / 32 * 32; j < i / 32 * 32 + 32; ++j)
        largest = std::max(largest, std::fabs(double(w[j])));
    out.value += v * double(w[i]);
    magnitude += std::fabs(v) * (std::fabs(double(w[i])) + 2 * largest);
    out.bound += row.slack[std::size_t(i)] * std::fabs(double(w[i]));
  }
  const double k = double(p.k);
  double terms = weight.blocks ? k / 32 + 8 : std::min(k, 256.0) + k / 256 + 4;
  if (!p.norm_weight.empty()) terms += k / 16 + 8;
  out.bound += terms * kFloatEps * magnitude;
  return out;
}

inline Product silu_pair(const Product& gate, const Product& up) {
  const double silu = gate.value / (1 + std::exp(-gate.value));
  const double gate_bound = 1.1 * gate.bound + 8 * kFloatEps * std::fabs(silu);  // |silu'| < 1.1
  return {silu * up.value, gate_bound * (std::fabs(up.value) + up.bound) +
                               std::fabs(silu) * up.bound +
                               2 * kFloatEps * std::fabs(silu * up.value)};
}

inline LinearExpected linear(const LinearProblem& p) {
  LinearExpected out;
  for (std::int64_t t = 0; t < p.m; ++t) {
    const std::vector<double> x = normalised_row(p, t);
    const LinearRow exact{x, std::vector<double>(x.size(), 0)};
    const bool any_blocks = std::any_of(p.weights.begin(), p.weights.end(),
                                        [](const LinearWeight& w) { return w.blocks; });
    const LinearRow rounded = p.round_x && any_blocks ? rounded_row(x) : exact;
    std::vector<Product> columns;
    for (const LinearWeight& weight : p.weights)
      for (std::int64_t n = 0; n < weight.rows; ++n)
        columns.push_back(product(p, weight.blocks ? rounded : exact, weight, n));
    if (p.silu_pairs) {
      const std::size_t half = columns.size() / 2;
      for (std::size_t n = 0; n < half; ++n) columns[n] = silu_pair(columns[n], columns[n + half]);
      columns.resize(half);
    }
    for (std::size_t n = 0; n < columns.size(); ++n) {
      const std::size_t at = std::size_t(t) * columns.size() + n;
      const double bias = p.bias.empty() ? 0 : double(p.bias[n]);
      const double residual = p.residual.empty() ? 0 : double(p.residual[at]);
      out.y.push_back(columns[n].value + bias + residual);
      out.bound.push_back(
          columns[n].bound +
          2 * kFloatEps * (std::fabs(columns[n].value) + std::fabs(bias) + std::fabs(residual)));
    }
  }
  return out;
}

}  // namespace tilewright::ref
