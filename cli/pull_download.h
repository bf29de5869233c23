// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "cli/pull_http.h"

namespace tilewright::cli {

struct Download {
  std::string url;
  std::filesystem::path file;  // grows as data arrive; kept when the download breaks
  std::uint64_t bytes = 0;     // how many the whole has
  std::string sha256;
  bool quiet = false;
  std::function<bool()> cancelled;
};

// Goes on from what `file` holds already, tries again when the connection breaks, and checks the
// hash at the end: a file that does not match is fetched once more from the start, then refused.
// Throws NotFound (404), IoError (network, disk full), FormatError (hash), Cancelled.
void download(const Download& what, const HttpSettings& settings);

// A descriptor that appends, and errors that name the file. Disk full says what to do.
class OutputFile {
 public:
  enum class Mode { kAppend, kNew };
  OutputFile(const std::filesystem::path& path, Mode mode);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void write(std::span<const std::byte> bytes);
  void truncate();
  void sync();

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace tilewright::cli
