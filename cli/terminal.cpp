// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "tilewright/base/error.h"

namespace tilewright::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr auto kRedraw = std::chrono::milliseconds(80);

// Wakes whoever waits for input: a signal before poll() or in another thread does not.
int wake_pipe[2] = {-1, -1};

extern "C" void on_interrupt(int) {
  if (interrupted().exchange(true)) _exit(130);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(wake_pipe[1], "", 1);
  errno = error;
}

std::string amount(std::string_view stage, std::size_t done, std::size_t total) {
  if (stage != "weights") return str(done, "/", total);
  char text[64];
  std::snprintf(text, sizeof(text), "%.0f/%.0f MB", double(done) / 1e6, double(total) / 1e6);
  return text;
}

}  // namespace

std::atomic<bool>& interrupted() {
  static std::atomic<bool> flag{false};
  return flag;
}

void catch_interrupts() {
  interrupted();
  [[maybe_unused]] const int made = ::pipe2(wake_pipe, O_NONBLOCK | O_CLOEXEC);
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);  // without SA_RESTART: a blocked read returns
}

void check_interrupted(std::string_view during) {
  if (interrupted().load()) TW_FAIL(Cancelled, "stopped while ", during);
}

bool input_arrives() {
  while (true) {
    pollfd waits[2] = {{STDIN_FILENO, POLLIN, 0}, {wake_pipe[0], POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 && errno != EINTR) return true;
    char bytes[16];
    while (::read(wake_pipe[0], bytes, sizeof(bytes)) > 0) continue;
    if (interrupted().load()) return false;
    if (waits[0].revents != 0) return true;
  }
}

bool is_terminal(int file) { return ::isatty(file) == 1; }

ProgressLine::ProgressLine(bool enabled) : enabled_(enabled && is_terminal(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(std::string_view stage, std::size_t done, std::size_t total) {
  if (!enabled_ || total == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (stage_ != stage) {
    stage_ = stage;
    start_ = now;
    last_ = {};
  }
  if (done < total && now - last_ < kRedraw) return;
  last_ = now;
  const double fraction = double(std::min(done, total)) / double(total);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = fraction > 0 ? elapsed * (1 - fraction) / fraction : 0;
  const auto filled = std::size_t(fraction * kBarWidth);
  std::fprintf(stderr, "\r\033[K%-8s [%s%s] %s, %.0f s left", stage_.c_str(),
               std::string(filled, '#').c_str(), std::string(kBarWidth - filled, '.').c_str(),
               amount(stage, done, total).c_str(), left);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace tilewright::cli
