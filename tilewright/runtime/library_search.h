// SPDX-License-Identifier: Apache-2.0
// Where a library may be, as a list: pure over the environment and the file system.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tilewright/runtime/library.h"

namespace tilewright::detail {

struct LibrarySpec {
  LibraryId id;
  const char* name;
  const char* variable;
  std::vector<std::string> sonames;  // newest first
  std::vector<std::string> wheels;   // folders below site-packages
  const char* wheel_name;            // what pip calls it
  const char* cache_folder;          // below cache_dir(), or empty
  const char* remedy;
};
const LibrarySpec& library_spec(LibraryId id);

struct Candidate {
  std::string path;  // a full path, or a bare soname for the system's own search
  std::string found_by;
  bool already_loaded = false;  // only if the process has it
};

using Environment = std::function<std::string(const char*)>;
std::string process_environment(const char* name);

// In order of preference. `driver_major` (0: unknown) puts what that driver can run first.
std::vector<Candidate> library_candidates(const LibrarySpec& spec, const Environment& environment,
                                          int driver_major);
// Folders where pip installs packages, found without starting Python.
std::vector<std::filesystem::path> site_packages(const Environment& environment);
// 13 of "libnvrtc.so.13", else 0.
int soname_major(const std::string& path);

}  // namespace tilewright::detail
