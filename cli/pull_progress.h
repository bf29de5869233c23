// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tilewright::cli {

// Shows how far a long step is, on standard error: one line that is redrawn on a terminal, else a
// line each tenth. Draws nothing when quiet.
class Progress {
 public:
  // `done` of `total` bytes were there before; they do not count for the speed.
  Progress(std::string label, std::uint64_t total, std::uint64_t done, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::uint64_t bytes) { set(done_ + bytes); }
  void set(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(Clock::time_point now);

  std::string label_;
  std::uint64_t total_, done_, first_;
  bool quiet_, terminal_;
  Clock::time_point started_ = Clock::now(), drawn_{};
  std::uint64_t next_ = 0;  // where the next line is due, off a terminal
  bool finished_ = false, on_line_ = false;
};

// The text of one line: "label [####----]  12.0/92.9 MB  23.1 MB/s  ETA 4 s". Pure, for tests.
std::string progress_line(const std::string& label, std::uint64_t done, std::uint64_t total,
                          double bytes_per_second);
std::string megabytes(std::uint64_t bytes);  // "92.9 MB": MB is 10^6 bytes

}  // namespace tilewright::cli
