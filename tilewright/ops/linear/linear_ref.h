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
  bool blocks = false;   // stored in blocks, so that x may be rounded for it
  bool minimum = false;  // blocks are minimum + scale * n, and one element is the minimum (q4_1)
};

struct LinearProblem {
  std::int64_t m = 0, k = 0;
  std::vector<float> x;  // [m, k]
  std::vector<LinearWeight> weights;
  std::vector<float> bias, residual, norm_weight;  // empty when absent
  float norm_eps = 0;
  bool silu_pairs = false;
  // For block weights, x is rounded in blocks of 32 to -levels … levels; 0: not at all. With 127
  // the scale, and scale * sum where it meets a minimum, are rounded to f16.
  int levels = 0;
};

struct LinearExpected {
  std::vector<double> y, bound;  // [m, n]; |computed - y| <= bound before y is rounded to its dtype
};

constexpr double kFloatEps = 1.0 / (1 << 24);  // half a unit in the last place

// A row of x as the products see it. slack[i]: how far element i may be off because a rounding
// was a near tie, which the float arithmetic before it may decide otherwise.
struct LinearRow {
  std::vector<double> x, slack;
  std::vector<double> total, total_slack;  // of each block of 32: what a minimum is multiplied by
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

inline double half_rounded(double value) {
  int exponent;
  std::frexp(value, &exponent);
  const double unit = std::ldexp(1, std::max(exponent - 11, -24));
  return std::nearbyint(value / unit) * unit;
}

// The f16 next to a value, and how far `change` may move it.
struct Half {
  double value, slack;
};
inline Half half_with_slack(double value, double change) {
  return {half_rounded(value), half_rounded(value + change) - half_rounded(value - change)};
}

// q = round(x / scale), scale = max |x| / levels for 32 elements.
inline void round_block(LinearRow& row, std::size_t first, int levels) {
  double largest = 0, sum = 0, sum_slack = 0;
  for (std::size_t i = first; i < first + 32; ++i) largest = std::max(largest, std::fabs(row.x[i]));
  if (largest == 0) return;
  const double scale = largest / levels, unsure = 5e-6 * levels;
  Half held{scale, 0};
  if (levels == 127) held = half_with_slack(scale, scale * 1e-5);
  for (std::size_t i = first; i < first + 32; ++i) {
    const double q = std::nearbyint(row.x[i] / scale);
    const bool tie = std::fabs(std::fabs(row.x[i] / scale - q) - 0.5) < unsure;
    row.slack[i] = (tie ? held.value : 0) + std::fabs(q) * held.slack;
    row.x[i] = q * held.value;
    sum += q;
    sum_slack += tie ? 1 : 0;
  }
  Half total{scale * sum, scale * sum_slack};
  if (levels == 127) {
    total = half_with_slack(scale * sum, std::fabs(scale * sum) * 1e-5 + scale * sum_slack);
  }
  row.total[first / 32] = total.value;
  row.total_slack[first / 32] = total.slack;
}

inline LinearRow rounded_row(const std::vector<double>& x, int levels) {
  LinearRow row{x, std::vector<double>(x.size(), 0), std::vector<double>(x.size() / 32, 0),
                std::vector<double>(x.size() / 32, 0)};
  for (std::size_t first = 0; first < x.size(); first += 32) round_block(row, first, levels);
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
    double largest = 0, minimum = 0;
    const float* block = w + i / 32 * 32;
    if (weight.blocks)
      for (int j = 0; j < 32; ++j) largest = std::max(largest, std::fabs(double(block[j])));
    if (weight.minimum && !row.total.empty()) {
      minimum = double(*std::min_element(block, block + 32));
      if (i % 32 == 0) {
        out.value += minimum * row.total[std::size_t(i / 32)];
        out.bound += std::fabs(minimum) * row.total_slack[std::size_t(i / 32)];
      }
    }
    out.value += v * (double(w[i]) - minimum);
    magnitude += std::fabs(v) * (std::fabs(double(w[i])) + 2 * largest);
    out.bound += row.slack[std::size_t(i)] * std::fabs(double(w[i]) - minimum);
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
    const LinearRow exact{x, std::vector<double>(x.size(), 0), {}, {}};
    const bool any_blocks = std::any_of(p.weights.begin(), p.weights.end(),
                                        [](const LinearWeight& w) { return w.blocks; });
    const LinearRow rounded = p.levels != 0 && any_blocks ? rounded_row(x, p.levels) : exact;
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
