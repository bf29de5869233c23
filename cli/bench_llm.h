// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace tilewright::cli {

// `tw bench llm.decode` and `llm.prefill`: a model file, or random weights in a known shape.
struct BenchLlmOptions {
  std::string op;              // llm.decode or llm.prefill
  std::string model, shape;    // one of them
  std::string dtype = "bf16";  // of random weights
  std::string weights;         // conversion of a model's weights
  std::string device = "auto";
  std::int64_t batch = 1, prompt = 128, steps = 256, context = 0;
  int threads = 0, repeats = 3;
  int activations = 16;  // bits
  bool no_graph = false, both = false, json = false;
};

int run_bench_llm(const BenchLlmOptions& options);

}  // namespace tilewright::cli
