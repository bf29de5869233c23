// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/formats/model_config.h"

#include <cmath>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

// Far above any model, far below where products of two of them overflow.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 24;
constexpr std::int64_t kMaxLayers = 4096;

void check_range(std::int64_t value, std::int64_t least, std::int64_t most, std::string_view field,
                 std::string_view where) {
  TW_CHECK(value >= least && value <= most, Format, where, ": ", field, " is ", value, ", wants ",
           least, " to ", most);
}

void check_rope(const ModelConfig& config, std::string_view where) {
  check_range(config.rope_dim, 0, config.head_dim, "rope dimension", where);
  TW_CHECK(config.rope_dim % 2 == 0, Format, where, ": rope dimension is ", config.rope_dim,
           ", wants an even number");
  TW_CHECK(std::isfinite(config.rope_base) && config.rope_base > 0, Format, where,
           ": rope base is ", config.rope_base, ", wants more than 0");
  const RopeScaling& scaling = config.rope_scaling;
  TW_CHECK(std::isfinite(scaling.factor) && scaling.factor > 0, Format, where,
           ": rope scaling factor is ", scaling.factor, ", wants more than 0");
  if (scaling.kind == RopeScaling::Kind::kLlama3) {
    TW_CHECK(scaling.low_freq_factor > 0 && scaling.high_freq_factor > scaling.low_freq_factor &&
                 scaling.original_context > 0,
             Format, where, ": llama3 rope scaling: low_freq_factor ", scaling.low_freq_factor,
             ", high_freq_factor ", scaling.high_freq_factor, ", original context ",
             scaling.original_context, "; wants 0 < low < high and a context");
  }
  if (scaling.kind == RopeScaling::Kind::kFactors) {
    TW_CHECK(std::int64_t(scaling.factors.size()) == config.rope_dim / 2, Format, where, ": ",
             scaling.factors.size(), " rope factors, wants ", config.rope_dim / 2);
    for (const float factor : scaling.factors) {
      TW_CHECK(std::isfinite(factor) && factor > 0, Format, where, ": rope factor ", factor,
               ", wants more than 0");
    }
  }
}

}  // namespace

std::string_view name(Architecture architecture) {
  return architecture == Architecture::kGpt2 ? "gpt2" : "llama";
}

void check_config(const ModelConfig& config, std::string_view where) {
  check_range(config.layers, 1, kMaxLayers, "number of layers", where);
  check_range(config.dim, 1, kMaxExtent, "embedding length", where);
  check_range(config.ffn_dim, 1, kMaxExtent, "feed-forward length", where);
  check_range(config.heads, 1, 1 << 16, "number of heads", where);
  check_range(config.kv_heads, 1, config.heads, "number of key/value heads", where);
  check_range(config.head_dim, 1, 1 << 16, "head dimension", where);
  check_range(config.vocab, 1, kMaxExtent, "vocabulary size", where);
  check_range(config.context, 1, std::int64_t{1} << 31, "context length", where);
  TW_CHECK(config.heads % config.kv_heads == 0, Format, where, ": ", config.heads,
           " heads are no multiple of ", config.kv_heads, " key/value heads");
  TW_CHECK(std::isfinite(config.norm_eps) && config.norm_eps >= 0, Format, where,
           ": norm epsilon is ", config.norm_eps, ", wants 0 or more");
  if (config.architecture == Architecture::kLlama) check_rope(config, where);
}

std::vector<float> rope_inverse_frequencies(const ModelConfig& config) {
  return rope_frequencies(config.rope_dim, config.rope_base, config.rope_scaling);
}

}  // namespace tilewright
