// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/llm/tokenizer/tokenizer_spec.h"

namespace tilewright {

// What GPT-2 cuts at, and ByteLevel with use_regex in a tokenizer.json.
inline constexpr const char* kGpt2Pattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

}  // namespace tilewright
