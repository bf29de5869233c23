// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

namespace tilewright::cli {

// Set by Ctrl-C. The first one asks for a stop; a second one within the same wait ends the program.
std::atomic<bool>& interrupted();
void catch_interrupts();
// Waits for standard input; false when Ctrl-C came, before or during the wait.
bool input_arrives();
// Throws Cancelled when Ctrl-C was pressed.
void check_interrupted(std::string_view during);

// One line on standard error that is redrawn on a terminal, and silent elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(bool enabled);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void update(std::string_view stage, std::size_t done, std::size_t total);
  void clear();

 private:
  bool enabled_, drawn_ = false;
  std::string stage_;
  std::chrono::steady_clock::time_point start_, last_;
};

bool is_terminal(int file);

// A JSON value as text, a template so that no header names the library. A path or a model's text
// may hold bytes that are no UTF-8: they are replaced.
template <class Json>
std::string json_text(const Json& json, int indent = 2) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tilewright::cli
