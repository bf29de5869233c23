// SPDX-License-Identifier: Apache-2.0
#include "cli/pull_progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <sstream>
#include <utility>

namespace tilewright::cli {
namespace {

std::string fixed(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << value;
  return out.str();
}

std::string duration(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole < 100) return std::to_string(whole) + " s";
  return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
}

}  // namespace

std::string megabytes(std::uint64_t bytes) {
  return fixed(static_cast<double>(bytes) / 1e6) + " MB";
}

std::string progress_line(const std::string& label, std::uint64_t done, std::uint64_t total,
                          double bytes_per_second) {
  constexpr std::uint64_t kWidth = 24;
  const std::uint64_t filled = total == 0 ? kWidth : std::min(kWidth, done * kWidth / total);
  std::string line = label + " [" + std::string(filled, '#') + std::string(kWidth - filled, '-') +
                     "]  " + fixed(static_cast<double>(done) / 1e6) + "/" + megabytes(total);
  if (bytes_per_second > 0) {
    line += "  " + fixed(bytes_per_second / 1e6) + " MB/s";
    if (done < total)
      line += "  ETA " + duration(static_cast<double>(total - done) / bytes_per_second);
  }
  return line;
}

Progress::Progress(std::string label, std::uint64_t total, std::uint64_t done, bool quiet)
    : label_(std::move(label)),
      total_(total),
      done_(done),
      first_(done),
      quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (on_line_) std::fputc('\n', stderr);
}

void Progress::set(std::uint64_t done) {
  done_ = done;
  if (quiet_ || finished_) return;
  const auto now = Clock::now();
  finished_ = done_ >= total_;
  const bool due = terminal_ ? now - drawn_ >= std::chrono::milliseconds(100) : done_ >= next_;
  if (!due && !finished_) return;
  next_ = done_ + total_ / 10;
  draw(now);
}

void Progress::draw(Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - started_).count();
  const double speed = seconds > 0.05 ? static_cast<double>(done_ - first_) / seconds : 0;
  const std::string line = progress_line(label_, done_, total_, speed);
  // Erase to the end of the line: the line before may have been longer.
  std::fprintf(stderr, terminal_ ? "\r%s\033[K" : "%s\n", line.c_str());
  std::fflush(stderr);
  drawn_ = now;
  on_line_ = terminal_;
}

}  // namespace tilewright::cli
