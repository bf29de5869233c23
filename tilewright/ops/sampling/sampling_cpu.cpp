// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/sampling/sampling_cpu.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/rows.h"
#include "tilewright/ops/argmax/argmax_table.h"
#include "tilewright/ops/sampling/sampling_math.h"
#include "tilewright/ops/sampling/sampling_select.h"
#include "tilewright/ops/sampling/sampling_table.h"

namespace tilewright {
namespace {

struct Best {
  float score = -std::numeric_limits<float>::infinity();
  std::int32_t token = std::numeric_limits<std::int32_t>::max();

  void offer(float other_score, std::int32_t other) {
    if (other_score > score || (other_score == score && other < token)) {
      score = other_score;
      token = other;
    }
  }
};

// The tokens that filters have left, in rising order, with the keys of their logits.
struct Kept {
  std::vector<std::int32_t> tokens;
  std::vector<std::uint32_t> keys;
  std::vector<std::uint64_t> weights;

  void keep_from(std::uint32_t threshold) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (keys[i] < threshold) continue;
      tokens[count] = tokens[i];
      keys[count++] = keys[i];
    }
    tokens.resize(count);
    keys.resize(count);
  }
};

void keep_top_k(const float* logits, std::int32_t vocab, std::int32_t top_k, Kept& kept) {
  kept.tokens.resize(std::size_t(vocab));
  kept.keys.resize(std::size_t(vocab));
  for (std::int32_t j = 0; j < vocab; ++j) {
    kept.tokens[std::size_t(j)] = j;
    kept.keys[std::size_t(j)] = sampling_key(logits[j]);
  }
  if (top_k <= 0 || top_k >= vocab) return;
  kept.keep_from(select_key(kept.keys.data(), nullptr, vocab, std::uint64_t(top_k)));
}

void keep_top_p(const float* probabilities, float top_p, Kept& kept) {
  std::uint64_t total = 0;
  kept.weights.resize(kept.tokens.size());
  for (std::size_t i = 0; i < kept.tokens.size(); ++i) {
    kept.weights[i] = sampling_weight(probabilities[kept.tokens[i]]);
    total += kept.weights[i];
  }
  kept.keep_from(select_key(kept.keys.data(), kept.weights.data(), std::int64_t(kept.tokens.size()),
                            sampling_top_p_target(top_p, total)));
}

// Every token takes part.
std::int32_t draw_from_all(const SamplingParams& params, std::int32_t position, const float* scaled,
                           std::int64_t vocab) {
  constexpr std::int64_t kGroups = 64;
  alignas(64) float noise[4 * kGroups];
  Best best;
  for (std::int64_t first = 0; first < vocab; first += 4 * kGroups) {
    const std::int64_t count = std::min(4 * kGroups, vocab - first);
    sampling_table().noise(params.seed, position, first / 4, (count + 3) / 4, noise);
    for (std::int64_t i = 0; i < count; ++i) {
      best.offer(scaled[first + i] + noise[i], std::int32_t(first + i));
    }
  }
  return best.token;
}

std::int32_t draw_from_kept(const SamplingParams& params, std::int32_t position, std::int64_t vocab,
                            const float* scaled, const float* probabilities, const Kept& kept) {
  // Noise comes in fours; where most tokens are left, many fours at once are cheaper.
  constexpr std::int64_t kMostGroups = 64;
  const std::int64_t groups = std::int64_t(kept.tokens.size()) > vocab / 8 ? kMostGroups : 1;
  alignas(64) float noise[4 * kMostGroups];
  std::int64_t first = -1;  // token that noise[0] belongs to
  Best best;
  for (const std::int32_t token : kept.tokens) {
    if (params.min_p > 0 && !(probabilities[token] >= params.min_p)) continue;
    if (first < 0 || token >= first + 4 * groups) {
      first = token / 4 * 4;
      sampling_table().noise(params.seed, position, first / 4, groups, noise);
    }
    best.offer(scaled[token] + noise[token - first], token);
  }
  return best.token;
}

std::int32_t sample_row(const float* logits, std::int32_t vocab, const SamplingParams& params,
                        std::int32_t position) {
  const auto first = std::int32_t(argmax_table().row(logits, vocab));
  const float maximum = logits[first];
  if (sampling_is_greedy(params) || !std::isfinite(maximum)) return first;
  float* scaled = thread_scratch(1, 2 * std::int64_t(vocab));
  float* probabilities = scaled + vocab;
  sampling_table().scale(logits, vocab, maximum, sampling_inverse_temperature(params.temperature),
                         scaled);
  const bool uses_k = params.top_k > 0 && params.top_k < vocab;
  const bool uses_p = params.top_p < 1, uses_min_p = params.min_p > 0;
  if (!uses_k && !uses_p && !uses_min_p) return draw_from_all(params, position, scaled, vocab);
  static thread_local Kept kept;
  keep_top_k(logits, vocab, params.top_k, kept);
  if (uses_p || uses_min_p) sampling_table().probabilities(scaled, vocab, probabilities);
  if (uses_p) keep_top_p(probabilities, params.top_p, kept);
  const std::int32_t token = draw_from_kept(params, position, vocab, scaled, probabilities, kept);
  // min_p > 1 leaves nothing: the largest is what it would leave last.
  return token == std::numeric_limits<std::int32_t>::max() ? first : token;
}

}  // namespace

void sample_cpu(const SamplingArgs& args) {
  parallel_for(args.rows, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      args.tokens[row] = sample_row(args.logits + row * args.logits_stride, args.vocab,
                                    args.params[row], args.positions[row]);
    }
  });
}

}  // namespace tilewright
