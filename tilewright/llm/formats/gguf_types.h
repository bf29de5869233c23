// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/base/dtype.h"

namespace tilewright {

// The dtype of a GGUF tensor type number; empty for one that is not read here.
std::optional<DType> gguf_dtype(std::uint32_t type);
// For messages: "IQ2_XS (type 17)", "type 99".
std::string gguf_type_name(std::uint32_t type);
// "f32, f16, …": what gguf_dtype() takes.
std::string gguf_supported_types();

}  // namespace tilewright
