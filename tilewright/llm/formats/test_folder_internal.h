// SPDX-License-Identifier: Apache-2.0
// Folders and safetensors files for tests.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include "tilewright/base/files.h"
#include "tilewright/base/text.h"

namespace tilewright::fixtures {

// A new folder that is gone at the end.
class TestFolder {
 public:
  TestFolder() {
    static int counter = 0;
    path_ = std::filesystem::temp_directory_path() /
            str("tilewright_test_", ::getpid(), "_", counter++);
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    write_file_atomic(path_ / name, text);
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

// A header and `data` bytes that count up.
inline std::string safetensors(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  bytes += header;
  for (std::size_t i = 0; i < data; ++i) bytes += char(i);
  return bytes;
}

}  // namespace tilewright::fixtures
