// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/log.h"

#include <mutex>
#include <utility>

namespace tilewright {
namespace {

struct Sink {
  std::mutex mutex;
  LogCallback callback;
};
Sink& sink() {
  static auto* instance = new Sink;
  return *instance;
}

}  // namespace

void set_log_callback(LogCallback callback) {
  const std::lock_guard lock(sink().mutex);
  sink().callback = std::move(callback);
}

void log_message(LogLevel level, std::string_view text) {
  const std::lock_guard lock(sink().mutex);
  if (sink().callback) sink().callback(level, text);
}

}  // namespace tilewright
