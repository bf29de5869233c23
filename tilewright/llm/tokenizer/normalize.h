// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "tilewright/llm/tokenizer/tokenizer_spec.h"

namespace tilewright {

// A Unicode normalisation form of valid UTF-8.
std::string normalize(std::string_view text, Normalization form);

}  // namespace tilewright
