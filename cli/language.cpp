// SPDX-License-Identifier: Apache-2.0
#include "language.h"

#include <cstdio>
#include <random>

#include "terminal.h"
#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/harness/limits.h"

namespace tilewright::cli {

ActivationRounding activation_rounding(int bits) {
  TW_CHECK(bits == 8 || bits == 16, InvalidArgument, "--activations: got ", bits,
           "; takes 8 or 16");
  return bits == 8 ? ActivationRounding::kEightBit : ActivationRounding::kSixteenBit;
}

std::unique_ptr<Engine> load_engine(const LanguageOptions& options) {
  if (options.threads > 0) set_thread_count(options.threads);
  EngineOptions engine;
  engine.device = options.device;
  engine.capacity = options.context;
  engine.use_graph = !options.no_graph;
  engine.activations = activation_rounding(options.activations);
  if (!options.weights.empty()) engine.weights = parse_dtype(options.weights);
  ProgressLine progress(!options.json && !options.quiet);
  return Engine::load(options.model, engine,
                      [&](std::string_view stage, std::size_t done, std::size_t total) {
                        progress.update(stage, done, total);
                        check_interrupted("loading the model");
                      });
}

GenerateOptions generate_options(const LanguageOptions& options, float default_temperature) {
  GenerateOptions result;
  result.max_tokens = options.max_tokens;
  result.stop = options.stop;
  result.ignore_stop_tokens = options.ignore_eos;
  result.sampling.temperature =
      options.temperature >= 0 ? options.temperature : default_temperature;
  result.sampling.top_k = options.top_k;
  result.sampling.top_p = options.top_p;
  result.sampling.min_p = options.min_p;
  result.sampling.seed =
      options.seed >= 0 ? std::uint64_t(options.seed) : std::uint64_t(std::random_device{}());
  return result;
}

double measured_limit(const Engine& engine) { return copy_bandwidth(engine.device()); }

std::string summary_line(const GenerateResult& result, double copy_gbps) {
  const auto rate = [](double count, double seconds) { return seconds > 0 ? count / seconds : 0; };
  const double gbps = rate(result.decode_bytes, result.decode_seconds) / 1e9;
  char text[320];
  std::snprintf(text, sizeof(text),
                "prompt %lld tokens, %.1f tokens/s | decode %lld tokens, %.1f tokens/s, %.1f GB/s",
                static_cast<long long>(result.prompt_tokens),
                rate(double(result.prompt_tokens), result.prompt_seconds),
                static_cast<long long>(result.decode_steps),
                rate(double(result.decode_steps), result.decode_seconds), gbps);
  std::string line = text;
  if (copy_gbps > 0) {
    std::snprintf(text, sizeof(text), ", %.0f %% of the measured %.1f GB/s copy limit",
                  100 * gbps / copy_gbps, copy_gbps);
    line += text;
  }
  return line;
}

}  // namespace tilewright::cli
