// SPDX-License-Identifier: Apache-2.0
// Any text as tokenizer.json, and what follows a NUL byte as the text to encode with it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tilewright/base/error.h"
#include "tilewright/llm/tokenizer/tokenizer.h"
#include "tilewright/llm/tokenizer/tokenizer_spec.h"
#include "tilewright/llm/tokenizer/utf8.h"

namespace {

void check(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\0'), input.size());
  const std::string_view json = input.substr(0, end);
  std::string_view text = "It's 12 caf\xc3\xa9 \xff<|a|>\n\n x";
  if (end < input.size()) text = input.substr(end + 1);
  try {
    const auto tokenizer =
        std::make_shared<const Tokenizer>(parse_tokenizer_json(json, "", "fuzz"));
    const auto ids = tokenizer->encode(text);
    const std::string decoded = tokenizer->decode(ids);
    check(find_invalid_utf8(decoded) == std::string::npos);
    StreamDecoder stream(tokenizer, false);
    std::string streamed;
    for (const std::int32_t id : ids) streamed += stream.push(id);
    check(streamed + stream.flush() == decoded);
  } catch (const Error&) {}
  return 0;
}
