// SPDX-License-Identifier: Apache-2.0
// The program `tw`: parses the command line and hands over to one run_… function.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "bench.h"
#include "bench_llm.h"
#include "doctor.h"
#include "info.h"
#include "language.h"
#include "precompile.h"
#include "pull.h"
#include "terminal.h"
#include "tilewright/base/error.h"
#include "tilewright/base/log.h"

namespace tilewright::cli {
namespace {

struct Command {
  CLI::App* app;
  std::function<int()> run;
};

// CLI11's own Range lets "nan" pass.
CLI::Validator between(double least, double most) {
  return {[least, most](std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            if (end != text.c_str() && value >= least && value <= most) return {};
            return str("got ", text, "; takes ", least, " to ", most);
          },
          ""};
}
const CLI::Validator kThreads = between(0, 1024), kShare = between(0, 1), kCount = between(0, 1e9);

void add_model_options(CLI::App* command, LanguageOptions& options) {
  command
      ->add_option("-m,--model", options.model,
                   "A GGUF file, a Hugging Face folder, or the name of a pulled model")
      ->required();
  command->add_option("--device", options.device, "cpu, cuda:N, or auto (a GPU when there is one)")
      ->capture_default_str();
  command->add_option("--threads", options.threads, "Threads of the cpu device (0: every core)")
      ->check(kThreads);
  command
      ->add_option("--context", options.context,
                   "Positions of the key/value cache (0: the model's, 4096 at most)")
      ->check(kCount);
  command->add_option("--weights", options.weights,
                      "Convert f32, f16 and bf16 weights to this dtype");
  command
      ->add_option("--activations", options.activations,
                   "Bits of activations that meet quantised weights on cpu: 16, or 8 (faster, as "
                   "llama.cpp)")
      ->capture_default_str();
  command->add_flag("--no-graph", options.no_graph, "Decode without a captured graph");
  command->add_flag("-q,--quiet", options.quiet, "No progress and no closing line");
}

void add_sampling_options(CLI::App* command, LanguageOptions& options) {
  command
      ->add_option("-n,--max-tokens", options.max_tokens,
                   "Most tokens to make (-1: until the context is full)")
      ->check(between(-1, 1e9));
  command->add_option("--system", options.system, "System message (with the chat template)");
  command
      ->add_option("--temp", options.temperature,
                   "Temperature; 0 takes the likeliest token (default: generate 0, chat 0.2)")
      ->check(between(0, 1000));
  command->add_option("--top-k", options.top_k, "Keep the K likeliest tokens (0: all)")
      ->check(kCount);
  command->add_option("--top-p", options.top_p, "Keep the likeliest tokens that sum to P")
      ->check(kShare);
  command->add_option("--min-p", options.min_p, "Keep tokens with P times the best probability")
      ->check(kShare);
  command->add_option("--seed", options.seed, "Seed of the sampler (-1: a new one each time)")
      ->check(between(-1, 9.3e18));
  command->add_option("--stop", options.stop, "Text that ends the answer; may be repeated");
}

Command add_generate(CLI::App& app) {
  auto options = std::make_shared<LanguageOptions>();
  CLI::App* command = app.add_subcommand("generate", "Continue a prompt with a language model");
  add_model_options(command, *options);
  add_sampling_options(command, *options);
  command->add_option("-p,--prompt", options->prompt, "The prompt");
  command->add_option("-f,--file", options->prompt_file, "Read the prompt from a file (-: stdin)");
  command->add_flag("--chat", options->chat, "Put the prompt into the model's chat template");
  command->add_flag("--ignore-eos", options->ignore_eos, "Go on past the end of the answer");
  command->add_flag("--json", options->json, "One JSON object when done");
  return {command, [options] { return run_generate(*options); }};
}

Command add_chat(CLI::App& app) {
  auto options = std::make_shared<LanguageOptions>();
  CLI::App* command = app.add_subcommand("chat", "Talk with a language model");
  add_model_options(command, *options);
  add_sampling_options(command, *options);
  return {command, [options] { return run_chat(*options); }};
}

Command add_logits(CLI::App& app) {
  auto options = std::make_shared<LanguageOptions>();
  CLI::App* command =
      app.add_subcommand("logits", "Print the logits of every position of given token ids");
  add_model_options(command, *options);
  command->add_option("--tokens", options->tokens_file, "A JSON array of token ids")->required();
  command->add_flag("--json", options->json, "Rows of logits as JSON (the only format)");
  return {command, [options] { return run_logits(*options); }};
}

void add_decode_options(CLI::App* command, BenchLlmOptions& options) {
  command->add_option("--batch", options.batch, "Sequences decoded together")
      ->check(between(1, 4096))
      ->capture_default_str();
  command->add_option("--steps", options.steps, "Decode steps measured")
      ->check(between(1, 1e9))
      ->capture_default_str();
  command->add_flag("--no-graph", options.no_graph, "Decode without a captured graph");
  command->add_flag("--both", options.both, "After the graph, measure eager steps too");
}

Command add_bench_llm(CLI::App* bench, const char* op, const char* text) {
  auto options = std::make_shared<BenchLlmOptions>();
  options->op = op;
  CLI::App* command = bench->add_subcommand(op, text);
  command->add_option("-m,--model", options->model, "A model as `tw generate` takes it");
  command->add_option("--shape", options->shape,
                      "Random weights in the shape of llama-3.1-8b, llama-3.2-1b, smollm2-135m, …");
  command->add_option("--dtype", options->dtype, "Dtype of random weights")->capture_default_str();
  command->add_option("--weights", options->weights, "Convert a model's plain weights to this");
  command->add_option("--device", options->device, "cpu, cuda:N or auto")->capture_default_str();
  command->add_option("--prompt", options->prompt, "Tokens of the prompt")
      ->check(between(1, 1e9))
      ->capture_default_str();
  if (options->op == "llm.decode") {
    add_decode_options(command, *options);
  } else {
    command->add_option("--repeats", options->repeats, "Prefills measured")
        ->check(between(1, 1e6))
        ->capture_default_str();
  }
  command->add_option("--context", options->context, "Positions of the cache")->check(kCount);
  command->add_option("--threads", options->threads, "Threads of the cpu device")->check(kThreads);
  command
      ->add_option("--activations", options->activations,
                   "Bits of activations that meet quantised weights on cpu: 16 or 8")
      ->capture_default_str();
  command->add_flag("--json", options->json, "One JSON row");
  return {command, [options] { return run_bench_llm(*options); }};
}

Command add_bench_op(CLI::App* bench, const BenchOp& op) {
  auto options = std::make_shared<BenchOptions>();
  options->op = op.name;
  CLI::App* command = bench->add_subcommand(op.name, op.doc);
  command->add_option("--size", options->sizes, "Sizes such as 16x4096, several with commas")
      ->delimiter(',');
  command->add_option("--dtype", options->dtypes, "Dtypes, several with commas")->delimiter(',');
  command->add_option("--device", options->device, "cpu, cuda:N or auto")->capture_default_str();
  command->add_option("--mode", options->mode, "stream, graph or both")->capture_default_str();
  command->add_option("--repeats", options->repeats, "Samples, whose median counts")
      ->check(between(1, 1e6))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Threads of the cpu device (0: every core)")
      ->check(kThreads);
  command->add_flag("--json", options->json, "One JSON row a line");
  return {command, [options] { return run_bench(*options); }};
}

Command add_pull(CLI::App& app) {
  auto options = std::make_shared<PullOptions>();
  CLI::App* command = app.add_subcommand("pull", "Fetch a model into the cache");
  command->add_option("model", options->model, "smollm2-135m-instruct")->required();
  command->add_option("--cache", options->cache, "The cache folder");
  command->add_flag("--json", options->json, "One JSON object when done");
  command->add_flag("-q,--quiet", options->quiet, "Say nothing but errors");
  command->add_flag("--force", options->force, "Fetch again although it is there");
  return {command, [options] { return run_pull(*options); }};
}

Command add_info(CLI::App& app) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = app.add_subcommand("info", "Devices and libraries, and where they are from");
  command->add_flag("--json", options->json, "One JSON object");
  return {command, [options] { return run_info(*options); }};
}

Command add_doctor(CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command =
      app.add_subcommand("doctor", "Say what does not fit together and how to mend it");
  command->add_flag("--json", options->json, "One JSON object");
  return {command, [options] { return run_doctor(*options); }};
}

Command add_precompile(CLI::App& app) {
  auto options = std::make_shared<PrecompileOptions>();
  CLI::App* command =
      app.add_subcommand("precompile", "Compile every kernel into a file; needs no GPU");
  command->add_option("--arch", options->archs, "sm_90a, sm_80, …; commas separate several");
  command->add_option("--out", options->out, "The file; named tw.pack beside tw it is found");
  command
      ->add_option("--only", options->only,
                   "A regular expression: kernels that match it; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--list", options->list, "Name the kernels, compile nothing");
  command->add_flag("--json", options->json, "One JSON object");
  return {command, [options] { return run_precompile(*options); }};
}

// Names in files from elsewhere end up in messages, and must not steer the terminal.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool control =
        (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    result += control ? '?' : c;
  }
  return result;
}

// On a line of its own, past any progress line.
void print_message(std::string_view kind, std::string_view text) {
  std::fflush(stdout);
  std::fprintf(stderr, "%stw: %.*s: %s\n", is_terminal(STDERR_FILENO) ? "\r\033[K" : "",
               int(kind.size()), kind.data(), printable(text).c_str());
}

int report(ErrorKind kind, std::string_view message) {
  print_message(name(kind), message);
  return exit_code(kind);
}

void print_warnings() {
  set_log_callback([](LogLevel level, std::string_view text) {
    if (level == LogLevel::kWarning) print_message("warning", text);
  });
}

// What was printed may have gone nowhere: a full disk shows here at the latest.
int flushed(int code) {
  const bool good = std::cout.flush().good() && std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (good || code != 0) return code;
  return report(ErrorKind::kIo, "cannot write to standard output: disk full, or closed");
}

// CLI11 misses a command before it minds the word that stands in its place.
int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> words = app.remaining(true);
  const std::string what =
      words.empty() ? error.what() : str("unknown command or option '", words[0], "'");
  return report(ErrorKind::kInvalidArgument, str(what, "; --help lists what there is"));
}

int run(int argc, char** argv) {
  CLI::App app{"tw: write, check, measure and ship deep-learning kernels"};
  app.set_version_flag("--version", "tw " TW_VERSION);
  app.require_subcommand(1);
  CLI::App* bench = app.add_subcommand("bench", "Measure against this machine's limits");
  bench->require_subcommand(1);
  std::vector<Command> commands{
      add_generate(app),
      add_chat(app),
      add_pull(app),
      add_info(app),
      add_doctor(app),
      add_precompile(app),
      add_logits(app),
      add_bench_llm(bench, "llm.decode", "Time from token to token of a language model"),
      add_bench_llm(bench, "llm.prefill", "Time to take in a prompt"),
  };
  for (const BenchOp& op : bench_ops()) commands.push_back(add_bench_op(bench, op));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : report_usage(app, error);
  }
  catch_interrupts();
  print_warnings();
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return 0;
}

}  // namespace
}  // namespace tilewright::cli

int main(int argc, char** argv) {
  using namespace tilewright;
  try {
    return cli::flushed(cli::run(argc, argv));
  } catch (const Error& error) {
    return cli::report(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    return cli::report(ErrorKind::kOutOfMemory, "the host has no memory left");
  } catch (const std::filesystem::filesystem_error& error) {
    return cli::report(ErrorKind::kIo, error.what());
  } catch (const std::exception& error) {
    return cli::report(ErrorKind::kInternal, error.what());
  }
}
