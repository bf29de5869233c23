// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/tokenizer/normalize.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

int flags(Normalization form) {
  switch (form) {
    case Normalization::kNfc: return UTF8PROC_COMPOSE;
    case Normalization::kNfd: return UTF8PROC_DECOMPOSE;
    case Normalization::kNfkc: return UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    case Normalization::kNfkd: return UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
  }
  return 0;
}

}  // namespace

std::string normalize(std::string_view text, Normalization form) {
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
  if (ascii) return std::string(text);
  utf8proc_uint8_t* raw = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   utf8proc_ssize_t(text.size()), &raw,
                                   utf8proc_option_t(flags(form) | UTF8PROC_STABLE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(raw, &std::free);
  TW_CHECK(length >= 0, Internal, "normalisation: ", utf8proc_errmsg(length));
  return {reinterpret_cast<const char*>(raw), std::size_t(length)};
}

}  // namespace tilewright
