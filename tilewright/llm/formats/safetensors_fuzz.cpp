// SPDX-License-Identifier: Apache-2.0
// Any bytes as a safetensors file. The first byte picks whether the rest is the whole file or
// the header alone, which is then given its right length.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tilewright/base/error.h"
#include "tilewright/llm/formats/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 1) {
    const std::uint64_t length = bytes.size();
    bytes.insert(0, std::string(sizeof(length), '\0'));
    std::memcpy(bytes.data(), &length, sizeof(length));
    bytes.append(64, '\1');
  }
  try {
    for (const TensorInfo& tensor :
         parse_safetensors(std::as_bytes(std::span(bytes.data(), bytes.size())), "fuzz")) {
      if (tensor.data.empty()) continue;
      volatile auto sum = std::to_integer<int>(tensor.data.front() ^ tensor.data.back());
      (void)sum;
    }
  } catch (const Error&) {}
  return 0;
}
