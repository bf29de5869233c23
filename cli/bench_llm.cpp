// SPDX-License-Identifier: Apache-2.0
#include "bench_llm.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <random>
#include <vector>

#include "language.h"
#include "terminal.h"
#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/harness/bench_row.h"
#include "tilewright/harness/limits.h"
#include "tilewright/llm/engine/engine.h"
#include "tilewright/llm/models/synthetic.h"

namespace tilewright::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kEagerSteps = 500;  // beside a graph's run: enough for a median

double microseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

double quantile(std::vector<double> sorted, double q) {
  std::sort(sorted.begin(), sorted.end());
  return sorted[std::min(sorted.size() - 1, std::size_t(q * double(sorted.size())))];
}

std::unique_ptr<Engine> make_engine(const BenchLlmOptions& options) {
  if (options.threads > 0) set_thread_count(options.threads);
  EngineOptions engine;
  engine.device = options.device;
  engine.sequences = options.batch;
  engine.capacity = options.context;
  engine.use_graph = !options.no_graph;
  engine.activations = activation_rounding(options.activations);
  if (!options.weights.empty()) engine.weights = parse_dtype(options.weights);
  ProgressLine progress(!options.json);
  const auto on_progress = [&](std::string_view stage, std::size_t done, std::size_t total) {
    progress.update(stage, done, total);
    check_interrupted("loading the model");
  };
  TW_CHECK(options.model.empty() != options.shape.empty(), InvalidArgument,
           "give a model (-m) or a shape (--shape), one of them");
  if (!options.model.empty()) return Engine::load(options.model, engine, on_progress);
  return Engine::create(synthetic_model(options.shape, parse_dtype(options.dtype)), engine,
                        on_progress);
}

std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t vocab) {
  std::mt19937 generator(7);
  std::uniform_int_distribution<std::int32_t> uniform(0, std::int32_t(vocab - 1));
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  for (std::int32_t& token : tokens) token = uniform(generator);
  return tokens;
}

struct StepTimes {
  std::vector<double> us;  // from one token to the next, as generate() sees them
  double bytes = 0;        // of a step, on average
};

StepTimes time_decode(Engine& engine, const BenchLlmOptions& options) {
  const std::vector<std::int32_t> prompt = random_tokens(options.prompt, engine.config().vocab);
  const bool ahead = !engine.device().is_cpu();
  StepTimes times;
  while (std::int64_t(times.us.size()) < options.steps) {
    for (std::int64_t sequence = 0; sequence < options.batch; ++sequence) {
      engine.truncate(sequence, 0);
      engine.prefill(sequence, prompt);
      engine.fetch();
    }
    if (ahead) engine.step();
    Clock::time_point last{};
    while (engine.length() < engine.capacity() && std::int64_t(times.us.size()) < options.steps) {
      check_interrupted("measuring");
      engine.step();
      engine.fetch();
      const Clock::time_point now = Clock::now();
      if (last != Clock::time_point{}) {
        times.us.push_back(microseconds(last, now));
        times.bytes += double(engine.bytes_per_step());
      }
      last = now;
    }
    while (engine.unfetched() > 0) engine.fetch();
  }
  times.bytes /= double(times.us.size());
  return times;
}

std::vector<double> time_prefill(Engine& engine, const BenchLlmOptions& options) {
  const std::vector<std::int32_t> prompt = random_tokens(options.prompt, engine.config().vocab);
  std::vector<double> us;
  for (int repeat = 0; repeat <= options.repeats; ++repeat) {
    check_interrupted("measuring");
    engine.truncate(0, 0);
    engine.synchronize();
    const Clock::time_point start = Clock::now();
    engine.prefill(0, prompt);
    engine.fetch();
    if (repeat > 0) us.push_back(microseconds(start, Clock::now()));  // the first warms up
  }
  return us;
}

BenchRow base_row(const Engine& engine, const BenchLlmOptions& options) {
  BenchRow row;
  row.op = options.op;
  row.variant = options.no_graph ? "eager" : "graph";
  if (options.activations == 8) row.variant += ", 8-bit activations";
  row.impl = "tilewright";
  row.device = properties(engine.device()).name;
  row.dtype = options.shape.empty() ? "stored" : options.dtype;
  row.size = str(options.batch, "x", options.prompt,
                 " model=", options.shape.empty() ? engine.config().name : options.shape);
  row.mode = options.no_graph ? "stream" : "graph";
  row.peak_gbps = copy_bandwidth(engine.device());
  return row;
}

void print_decode(BenchRow row, const StepTimes& times, const BenchLlmOptions& options) {
  row.us = quantile(times.us, 0.5);
  row.gbps = times.bytes / row.us / 1e3;
  row.frac = row.peak_gbps > 0 ? row.gbps / row.peak_gbps : 0;
  row.extra = {{"p99_us", quantile(times.us, 0.99)},
               {"max_us", quantile(times.us, 1)},
               {"steps", double(times.us.size())},
               {"tokens_per_second", 1e6 * double(options.batch) / row.us}};
  if (options.json) {
    std::cout << to_json(row) << std::endl;
    return;
  }
  std::printf(
      "%s %s: p50 %.1f us, p99 %.1f us, largest of %zu %.1f us; %.1f tokens/s, %.1f GB/s, "
      "%.1f %% of the copy limit %.1f GB/s\n",
      row.size.c_str(), row.variant.c_str(), row.us, quantile(times.us, 0.99), times.us.size(),
      quantile(times.us, 1), 1e6 * double(options.batch) / row.us, row.gbps, 100 * row.frac,
      row.peak_gbps);
}

void print_prefill(BenchRow row, const std::vector<double>& us, const BenchLlmOptions& options) {
  row.us = quantile(us, 0.5);
  const double rate = 1e6 * double(options.prompt) / row.us;
  row.extra = {{"tokens_per_second", rate}};
  if (options.json) {
    std::cout << to_json(row) << std::endl;
  } else {
    std::printf("%s: %.0f us, %.1f tokens/s\n", row.size.c_str(), row.us, rate);
  }
}

}  // namespace

int run_bench_llm(const BenchLlmOptions& options) {
  TW_CHECK(options.batch >= 1 && options.prompt >= 1 && options.steps >= 1 && options.repeats >= 1,
           InvalidArgument, "batch, prompt, steps and repeats are at least 1");
  const std::unique_ptr<Engine> engine = make_engine(options);
  TW_CHECK(options.prompt < engine->capacity(), InvalidArgument, "a prompt of ", options.prompt,
           " tokens leaves no room in a context of ", engine->capacity());
  if (options.op == "llm.prefill") {
    const std::vector<double> us = time_prefill(*engine, options);
    print_prefill(base_row(*engine, options), us, options);
  } else {
    const StepTimes times = time_decode(*engine, options);
    print_decode(base_row(*engine, options), times, options);
    if (options.both && !options.no_graph) {
      BenchLlmOptions eager = options;
      eager.no_graph = true;
      eager.steps = std::min(options.steps, kEagerSteps);
      engine->replay_steps(false);
      print_decode(base_row(*engine, eager), time_decode(*engine, eager), eager);
    }
  }
  return 0;
}

}  // namespace tilewright::cli
