// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/chat/chat_template.h"

#include "tilewright/base/error.h"

namespace tilewright {

struct ChatTemplate::Program {};

ChatTemplate ChatTemplate::parse(std::string) {
  TW_FAIL(Unsupported, "chat templates are not evaluated yet");
}

std::string ChatTemplate::render(std::span<const ChatMessage>, const RenderOptions&) const {
  TW_FAIL(Unsupported, "chat templates are not evaluated yet");
}

std::string ChatTemplate::render_json(const std::string&, const RenderOptions&) const {
  TW_FAIL(Unsupported, "chat templates are not evaluated yet");
}

}  // namespace tilewright
