// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/chat/chat_template.h"

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/interpreter.h"
#include "tilewright/llm/chat/parser.h"
#include "tilewright/llm/tokenizer/utf8.h"

namespace tilewright {
namespace {

// Far above any real one.
constexpr std::size_t kMaxSource = 1 << 20;

chat::Value text(std::string_view value) { return chat::Value::text(replace_invalid_utf8(value)); }

chat::Variables variables(chat::Value messages, const RenderOptions& options) {
  chat::Variables result;
  result.emplace("messages", std::move(messages));
  result.emplace("add_generation_prompt", chat::Value::boolean(options.add_generation_prompt));
  if (!options.bos_token.empty()) result.emplace("bos_token", text(options.bos_token));
  if (!options.eos_token.empty()) result.emplace("eos_token", text(options.eos_token));
  for (const auto& [name, json] : options.variables) {
    result.insert_or_assign(name, chat::from_json(json, str("chat template: variable ", name)));
  }
  // Given as None when there are none, as transformers does.
  result.emplace("tools", chat::Value::none());
  result.emplace("documents", chat::Value::none());
  return result;
}

}  // namespace

struct ChatTemplate::Program {
  chat::Block block;
};

ChatTemplate ChatTemplate::parse(std::string source) {
  TW_CHECK(source.size() <= kMaxSource, Format, "chat template: ", source.size(),
           " bytes, at most ", kMaxSource, " make sense");
  const std::size_t bad = find_invalid_utf8(source);
  TW_CHECK(bad == std::string::npos, Format, "chat template: invalid UTF-8 at byte ", bad);
  auto program = std::make_shared<Program>();
  program->block = chat::parse_template(source);
  ChatTemplate result;
  result.program_ = std::move(program);
  return result;
}

std::string ChatTemplate::render(std::span<const ChatMessage> messages,
                                 const RenderOptions& options) const {
  std::vector<chat::Value> list;
  for (const ChatMessage& message : messages) {
    list.push_back(chat::Value::dict({{chat::Value::text("role"), text(message.role)},
                                      {chat::Value::text("content"), text(message.content)}}));
  }
  chat::Interpreter interpreter(variables(chat::Value::list(std::move(list)), options),
                                options.now);
  return interpreter.run(program_->block);
}

std::string ChatTemplate::render_json(const std::string& messages,
                                      const RenderOptions& options) const {
  chat::Value list = chat::from_json(messages, "chat template: messages");
  TW_CHECK(list.as_list() != nullptr, InvalidArgument, "chat template: messages: got a ",
           list.type_name(), ", wants a JSON array");
  chat::Interpreter interpreter(variables(std::move(list), options), options.now);
  return interpreter.run(program_->block);
}

}  // namespace tilewright
