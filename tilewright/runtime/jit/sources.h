// SPDX-License-Identifier: Apache-2.0
// The kernel text that the program carries, and what a kernel's text depends on.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright::jit {

struct EmbeddedSource {
  std::string_view path;  // "tilewright/ops/rms_norm/rms_norm.cuh"
  std::string_view text;
};

// Called by the generated files (cmake/TilewrightEmbed.cmake). The text must live for ever.
void register_sources(std::span<const EmbeddedSource> sources);
std::optional<std::string_view> find_source(std::string_view path);
std::vector<std::string_view> source_paths();  // sorted

struct Include {
  std::string name;
  bool quoted = false;
};
struct IncludeScan {
  std::vector<Include> includes;
  bool computed = false;  // an include whose name is a macro: what it reads is unknown
};
// Every #include of a text outside comments, whether or not the preprocessor would reach it.
IncludeScan scan_includes(std::string_view text);

struct Closure {
  std::vector<std::pair<std::string, std::string>> headers;  // in-memory: include path, text
  std::string hash;      // of the source and of every header that it may read
  bool complete = true;  // false: the hash cannot vouch for what is read; do not cache
};
// `folders`: the user's include folders; their files are read by the compiler, hashed here.
Closure close_over(std::string_view source, const std::vector<std::string>& folders = {});

}  // namespace tilewright::jit
