// SPDX-License-Identifier: Apache-2.0
// `tw generate`, `tw chat`, `tw logits`: what they share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tilewright/llm/engine/generate.h"

namespace tilewright::cli {

struct LanguageOptions {
  std::string model, prompt, prompt_file, system;
  std::string device = "auto", weights;
  std::vector<std::string> stop;
  std::int64_t max_tokens = -1, context = 0, seed = -1;
  float temperature = -1, top_p = 1, min_p = 0;
  int top_k = 0;
  int threads = 0;
  int activations = 16;  // bits
  bool chat = false, no_graph = false, json = false, quiet = false, ignore_eos = false;
  std::string tokens_file;  // logits
};

// From 8 or 16 bits; anything else is refused.
ActivationRounding activation_rounding(int bits);
std::unique_ptr<Engine> load_engine(const LanguageOptions& options);
GenerateOptions generate_options(const LanguageOptions& options, float default_temperature);

// "prompt 31 tokens, 812 tokens/s · decode …": the line that ends an answer.
std::string summary_line(const GenerateResult& result, double copy_gbps);
// Copy bandwidth of the device in GB/s, measured now; 0 when it could not be.
double measured_limit(const Engine& engine);

int run_generate(const LanguageOptions& options);
int run_chat(const LanguageOptions& options);
int run_logits(const LanguageOptions& options);

}  // namespace tilewright::cli
