// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "language.h"
#include "terminal.h"
#include "tilewright/base/error.h"
#include "tilewright/base/files.h"

namespace tilewright::cli {
namespace {

constexpr std::size_t kLongestPrompt = 64u << 20;

std::string prompt_text(const LanguageOptions& options) {
  TW_CHECK(options.prompt.empty() || options.prompt_file.empty(), InvalidArgument,
           "give --prompt or --file, not both");
  if (options.prompt_file == "-") {
    return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  }
  if (!options.prompt_file.empty()) return read_text_file(options.prompt_file, kLongestPrompt);
  return options.prompt;
}

nlohmann::json to_json(const GenerateResult& result, const Engine& engine, double limit) {
  const auto rate = [](double count, double seconds) { return seconds > 0 ? count / seconds : 0; };
  const double gbps = rate(result.decode_bytes, result.decode_seconds) / 1e9;
  return {{"text", result.text},
          {"tokens", result.tokens},
          {"finish_reason", std::string(name(result.reason))},
          {"device", to_string(engine.device())},
          {"prompt_tokens", result.prompt_tokens},
          {"prompt_seconds", result.prompt_seconds},
          {"prompt_tokens_per_second", rate(double(result.prompt_tokens), result.prompt_seconds)},
          {"decode_tokens", result.decode_steps},
          {"decode_seconds", result.decode_seconds},
          {"decode_tokens_per_second", rate(double(result.decode_steps), result.decode_seconds)},
          {"gbps", gbps},
          {"copy_limit_gbps", limit},
          {"fraction_of_limit", limit > 0 ? gbps / limit : 0}};
}

GenerateResult answer(Generator& generator, const LanguageOptions& options,
                      const std::string& prompt, const TextSink& sink) {
  const GenerateOptions settings = generate_options(options, 0);
  if (options.chat) {
    Conversation conversation(generator, options.system);
    return conversation.ask(prompt, settings, sink, &interrupted());
  }
  TW_CHECK(options.system.empty(), InvalidArgument, "--system needs --chat");
  const std::vector<std::int32_t> tokens =
      generator.tokenizer()->encode(prompt, {.reject_invalid_utf8 = true});
  return generator.generate(tokens, settings, sink, &interrupted());
}

}  // namespace

int run_generate(const LanguageOptions& options) {
  const std::string prompt = prompt_text(options);
  TW_CHECK(!prompt.empty(), InvalidArgument, "the prompt is empty; give one with -p or --file");
  const std::unique_ptr<Engine> engine = load_engine(options);
  Generator generator(*engine);
  TextSink sink;
  if (!options.json) {
    sink = [](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    };
  }
  const GenerateResult result = answer(generator, options, prompt, sink);
  const bool stopped = result.reason == FinishReason::kCancelled;
  const double limit = stopped ? 0 : measured_limit(*engine);
  if (options.json) {
    std::cout << json_text(to_json(result, *engine, limit), -1) << std::endl;
  } else {
    std::fputc('\n', stdout);
    std::fflush(stdout);
    if (!options.quiet) std::fprintf(stderr, "%s\n", summary_line(result, limit).c_str());
  }
  return stopped ? exit_code(ErrorKind::kCancelled) : 0;
}

int run_logits(const LanguageOptions& options) {
  const nlohmann::json input =
      nlohmann::json::parse(read_text_file(options.tokens_file, 1 << 24), nullptr, false);
  TW_CHECK(input.is_array(), Format, options.tokens_file, ": wants a JSON array of token ids");
  std::vector<std::int32_t> tokens;
  for (const auto& id : input) {
    TW_CHECK(id.is_number_integer() && id >= 0 && id <= INT32_MAX, Format, options.tokens_file,
             ": got ", json_text(id, -1), "; a token id is an integer from 0 on");
    tokens.push_back(id.get<std::int32_t>());
  }
  const std::unique_ptr<Engine> engine = load_engine(options);
  const std::vector<float> logits = engine->forward_all(tokens);
  const auto vocab = std::size_t(engine->config().vocab);
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    rows.push_back(std::vector<float>(logits.begin() + std::ptrdiff_t(row * vocab),
                                      logits.begin() + std::ptrdiff_t((row + 1) * vocab)));
  }
  std::cout << rows.dump() << std::endl;
  return 0;
}

}  // namespace tilewright::cli
