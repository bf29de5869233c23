// SPDX-License-Identifier: Apache-2.0
// For tests: a folder of their own, and the cache in it.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tilewright/base/text.h"

namespace tilewright {

class TestFolder {
 public:
  TestFolder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() / str("tw_test_", ::getpid(), "_", count++);
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void hold_cache() const { setenv("TILEWRIGHT_CACHE", path_.c_str(), 1); }

 private:
  std::filesystem::path path_;
};

}  // namespace tilewright
