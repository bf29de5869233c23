// SPDX-License-Identifier: Apache-2.0
// A pack: compiled kernels in one file, so that a machine without NVRTC runs them. Looked up by
// what was compiled (source, options, architecture), not by who compiled it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/files.h"
#include "tilewright/runtime/jit/compiled.h"

namespace tilewright::jit {

struct PackEntry {
  std::string key;  // Unit::key
  KernelSpec spec;
  std::string arch;
  Compiled compiled;
};

class Pack {
 public:
  // Throws NotFound, FormatError.
  explicit Pack(const std::filesystem::path& path);
  // Checks the entry's own checksum; a damaged one throws FormatError.
  std::optional<Compiled> find(const std::string& key) const;
  std::vector<PackEntry> entries() const;

 private:
  struct Place {
    KernelSpec spec;
    std::string arch;
    std::uint64_t offset = 0, size = 0;
  };
  Compiled read(const Place& place) const;
  MappedFile file_;
  std::map<std::string, Place> index_;
};

void write_pack(const std::filesystem::path& path, const std::vector<PackEntry>& entries);

// TW_PACK, else tw.pack or tilewright.pack beside the program; nullptr when there is none. A
// damaged one that was found by itself is a warning, one named by TW_PACK an error.
const Pack* process_pack();
// Its path, or empty.
std::string pack_path();

}  // namespace tilewright::jit
