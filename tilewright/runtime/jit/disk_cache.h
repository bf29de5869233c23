// SPDX-License-Identifier: Apache-2.0
// One file a kernel below cache_dir()/kernels. Anything unreadable is a miss; a folder that cannot
// be written costs a warning, never a failure. Safe with many processes: files are written aside
// and renamed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tilewright/runtime/jit/compiled.h"

namespace tilewright::jit {

class DiskCache {
 public:
  // `limit` bytes at most are kept, the least recently used go first; 0 keeps nothing.
  DiskCache(std::filesystem::path folder, std::uintmax_t limit);
  std::optional<Compiled> find(const std::string& key) const;
  void store(const std::string& key, const Compiled& compiled) const;
  // Applies the limit, and removes what killed writers left behind.
  void trim() const;

 private:
  std::filesystem::path file_of(const std::string& key) const;
  std::filesystem::path folder_;
  std::uintmax_t limit_;
};

// The one of this process: TW_CACHE_LIMIT sets the limit ("512M", "2G", bytes; default 1G).
// Throws InvalidArgument for another text.
DiskCache process_cache();
// nullopt for anything else.
std::optional<std::uintmax_t> parse_size(const std::string& text);

}  // namespace tilewright::jit
