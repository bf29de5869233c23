// SPDX-License-Identifier: Apache-2.0
// Any bytes: the reader of ZIP archives and of index pages answers or throws, and nothing else.
#include <cstddef>
#include <cstdint>

#include "cli/pull_index.h"
#include "cli/pull_zip.h"
#include "tilewright/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const auto member = cli::find_zip_member(bytes, "m", "input");
    std::size_t total = 0;
    cli::unpack_zip_member(member, "input", [&](auto piece) {
      total += piece.size();
      TW_CHECK(total < std::size_t{1} << 24, OutOfMemory, "enough");
    });
  } catch (const Error&) {}
  const std::string page(reinterpret_cast<const char*>(data), size);
  for (const char* type : {"application/json", "text/html"}) {
    try {
      cli::find_on_page(page, type, "http://host/simple/a/", "a-1.whl");
    } catch (const Error&) {}
  }
  return 0;
}
