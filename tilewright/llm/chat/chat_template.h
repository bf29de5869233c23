// SPDX-License-Identifier: Apache-2.0
// Evaluates the chat template that a model ships: the part of Jinja that such templates use, as
// Hugging Face configures it (trim_blocks, lstrip_blocks, loop controls).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant" or what the template knows
  std::string content;
};

struct RenderOptions {
  bool add_generation_prompt = true;
  std::string bos_token, eos_token;
  // Further variables as JSON text, by name: {"enable_thinking", "false"}, {"tools", "[…]"}.
  std::map<std::string, std::string> variables;
  // Seconds since the epoch for strftime_now, so that a test can hold time still; < 0 is now.
  std::int64_t now = -1;
};

class ChatTemplate {
 public:
  // Throws Unsupported naming a construct and its line, FormatError for a syntax error.
  static ChatTemplate parse(std::string source);

  // Throws InvalidArgument with the text of the template's own raise_exception, Unsupported for
  // a construct, FormatError for an error of evaluation, each with its line. Steps, depth and
  // output are bounded, so that a hostile template ends.
  std::string render(std::span<const ChatMessage> messages, const RenderOptions& options) const;
  // The same with the messages as a JSON array, for content parts and tool calls.
  std::string render_json(const std::string& messages, const RenderOptions& options) const;

 private:
  struct Program;
  std::shared_ptr<const Program> program_;
};

}  // namespace tilewright
