// SPDX-License-Identifier: Apache-2.0
// Libraries never print: what they have to tell goes to a callback of the program.
#pragma once

#include <functional>
#include <string_view>

namespace tilewright {

enum class LogLevel { kInfo, kWarning };
using LogCallback = std::function<void(LogLevel, std::string_view)>;

// Replaces the callback (none at first). It may be called from any thread, one call at a time.
void set_log_callback(LogCallback callback);
void log_message(LogLevel level, std::string_view text);

}  // namespace tilewright
