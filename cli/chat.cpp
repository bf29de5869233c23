// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "language.h"
#include "terminal.h"
#include "tilewright/base/error.h"

namespace tilewright::cli {
namespace {

constexpr const char* kHelp =
    "  /help     these lines\n"
    "  /clear    forget the conversation\n"
    "  /exit     end (also Ctrl-D)\n"
    "  Ctrl-C    stop an answer\n";

// A line without its newline; false at the end of the input.
bool read_line(std::string& line) {
  if (is_terminal(STDIN_FILENO)) std::fputs("> ", stdout), std::fflush(stdout);
  line.clear();
  while (true) {
    if (!input_arrives()) {  // Ctrl-C at the prompt: drop the line
      interrupted() = false;
      line.clear();
      std::fputs("\n> ", stdout), std::fflush(stdout);
      continue;
    }
    char byte = 0;
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return !line.empty();
    if (byte == '\n') return true;
    line += byte;
  }
}

void answer(Conversation& conversation, const std::string& line, const GenerateOptions& settings,
            bool quiet) {
  interrupted() = false;
  try {
    const GenerateResult result = conversation.ask(
        line, settings,
        [](std::string_view text) {
          std::fwrite(text.data(), 1, text.size(), stdout);
          std::fflush(stdout);
        },
        &interrupted());
    std::fputs(result.reason == FinishReason::kCancelled ? " [stopped]\n" : "\n", stdout);
    std::fflush(stdout);
    if (result.reason == FinishReason::kContext) {
      std::fputs("the context is full; /clear starts anew\n", stderr);
    }
    if (!quiet) std::fprintf(stderr, "[%s]\n", summary_line(result, 0).c_str());
  } catch (const InvalidArgument& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  interrupted() = false;
}

}  // namespace

int run_chat(const LanguageOptions& options) {
  const std::unique_ptr<Engine> engine = load_engine(options);
  Generator generator(*engine);
  Conversation conversation(generator, options.system);
  const GenerateOptions settings = generate_options(options, 0.2F);
  if (is_terminal(STDIN_FILENO)) {
    std::fprintf(stderr, "%s on %s; /help lists commands\n", engine->config().name.c_str(),
                 to_string(engine->device()).c_str());
  }
  std::string line;
  while (read_line(line)) {
    if (line == "/exit" || line == "/quit") break;
    if (line == "/help") {
      std::fputs(kHelp, stdout);
    } else if (line == "/clear") {
      conversation.clear();
    } else if (!line.empty()) {
      answer(conversation, line, settings, options.quiet);
    }
  }
  return 0;
}

}  // namespace tilewright::cli
