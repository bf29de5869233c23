// SPDX-License-Identifier: Apache-2.0
// Any text as a chat template, rendered over a small conversation.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tilewright/base/error.h"
#include "tilewright/llm/chat/chat_template.h"
#include "tilewright/llm/tokenizer/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  static const std::string kMessages =
      R"([{"role":"system","content":" S "},{"role":"user","content":"H\u00e9llo"},)"
      R"({"role":"assistant","content":"x","tool_calls":[{"function":{"name":"f",)"
      R"("arguments":{"a":1,"b":[true,null,2.5]}}}]},{"role":"user","content":"bye"}])";
  RenderOptions options;
  options.bos_token = "<s>";
  options.eos_token = "</s>";
  options.now = 1'700'000'000;
  try {
    const auto chat = ChatTemplate::parse(std::string(reinterpret_cast<const char*>(data), size));
    if (find_invalid_utf8(chat.render_json(kMessages, options)) != std::string::npos) std::abort();
  } catch (const Error&) {}
  return 0;
}
