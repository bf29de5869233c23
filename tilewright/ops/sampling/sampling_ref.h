// SPDX-License-Identifier: Apache-2.0
// The filters by sorting, in double precision: what is left, and with which probability.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tilewright/ops/sampling/sampling_args.h"

namespace tilewright::ref {

namespace detail {

// Keeps what is at least as large as the `count`-th largest of those kept, and renormalises.
inline void keep_largest(const std::vector<float>& logits, std::size_t count,
                         std::vector<double>& probabilities) {
  std::vector<float> sorted;
  for (std::size_t j = 0; j < logits.size(); ++j) {
    if (probabilities[j] > 0) sorted.push_back(logits[j]);
  }
  std::sort(sorted.rbegin(), sorted.rend());
  if (count >= sorted.size()) return;
  const float threshold = sorted[count - 1];
  double sum = 0;
  for (std::size_t j = 0; j < logits.size(); ++j) {
    if (logits[j] < threshold) probabilities[j] = 0;
    sum += probabilities[j];
  }
  for (double& p : probabilities) p /= sum;
}

// How many of the largest reach p together.
inline std::size_t nucleus(const std::vector<double>& probabilities, double p) {
  std::vector<double> sorted = probabilities;
  std::sort(sorted.rbegin(), sorted.rend());
  double sum = 0;
  for (std::size_t count = 1; count <= sorted.size(); ++count) {
    sum += sorted[count - 1];
    if (sum >= p) return count;
  }
  return sorted.size();
}

}  // namespace detail

// Finite logits, temperature above 0.
inline std::vector<double> sampling_distribution(const std::vector<float>& logits,
                                                 const SamplingParams& params) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> p(logits.size());
  for (std::size_t j = 0; j < p.size(); ++j) {
    p[j] = std::exp((double(logits[j]) - largest) / double(params.temperature));
  }
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= sum;
  if (params.top_k > 0) detail::keep_largest(logits, std::size_t(params.top_k), p);
  if (params.top_p < 1) detail::keep_largest(logits, detail::nucleus(p, double(params.top_p)), p);
  if (params.min_p > 0) {
    const double bound = double(params.min_p) * *std::max_element(p.begin(), p.end());
    for (double& value : p) value = value < bound ? 0 : value;
    const double rest = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& value : p) value /= rest;
  }
  return p;
}

}  // namespace tilewright::ref
