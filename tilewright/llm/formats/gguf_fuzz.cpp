// SPDX-License-Identifier: Apache-2.0
// Any bytes as a GGUF file: header, model configuration, tensors, tokenizer.
#include <cstddef>
#include <cstdint>

#include "tilewright/base/error.h"
#include "tilewright/llm/formats/model_checks.h"
#include "tilewright/llm/formats/model_readers.h"
#include "tilewright/llm/tokenizer/tokenizer_spec.h"

namespace {

template <class Action>
void attempt(const Action& action) {
  try {
    action();
  } catch (const tilewright::Error&) {}
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  attempt([&] {
    const GgufFile file(std::as_bytes(std::span(data, size)), nullptr, "fuzz");
    // Touch the ends of every tensor, where a wrong size would show.
    for (const std::string& name : file.names()) {
      const TensorInfo& tensor = file.get(name);
      if (tensor.data.empty()) continue;
      volatile auto sum = std::to_integer<int>(tensor.data.front() ^ tensor.data.back());
      (void)sum;
    }
    attempt([&] { check_weights(gguf_model_config(file), file); });
    attempt([&] {
      const Tokenizer tokenizer(tokenizer_spec(file));
      tokenizer.decode(tokenizer.encode("Hello, w\xc3\xb6rld <|im_end|> 123\n\n"));
    });
  });
  return 0;
}
