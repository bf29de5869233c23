// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tilewright {

// A read-only memory map of a whole file. Cheap to copy; the map lives as long as any copy.
class MappedFile {
 public:
  MappedFile() = default;
  // Throws NotFound, IoError (a directory, no permission). An empty file maps to no bytes.
  explicit MappedFile(const std::filesystem::path& path);
  std::span<const std::byte> bytes() const;
  const std::filesystem::path& path() const;
  // Keeps the map alive; pass it as the owner of tensors that point into it.
  std::shared_ptr<const void> owner() const { return state_; }

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// Whole file as text, a pipe to its end; throws NotFound, and IoError past `limit` bytes, so that a
// wrong path cannot eat memory.
std::string read_text_file(const std::filesystem::path& path, std::size_t limit = 1u << 30);
// Writes aside, syncs and renames: a reader sees the old file or the whole new one, also after a
// kill. Throws IoError naming the path and the cause (disk full, no permission).
void write_file_atomic(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomic(const std::filesystem::path& path, std::string_view text);

// $TILEWRIGHT_CACHE, else $XDG_CACHE_HOME/tilewright, else ~/.cache/tilewright. Not created here.
std::filesystem::path cache_dir();

}  // namespace tilewright
