// SPDX-License-Identifier: Apache-2.0
// NVRTC behind a plain function. Its C interface is declared by ourselves and found at run time.
// Source: NVIDIA, NVRTC manual.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tilewright::jit {

struct NvrtcInfo {
  int major = 0, minor = 0;
  std::vector<int> archs;  // 75, 80, 90 …
  std::string build;       // tells two builds of one version apart
};
// Throws LibraryError when NVRTC is missing or does not fit.
const NvrtcInfo& nvrtc_info();

struct Translation {
  std::string source;  // of the main file
  std::string name;    // that messages call it
  std::string expression;
  std::vector<std::string> options;
  std::vector<std::pair<std::string, std::string>> headers;  // include path, text
};

struct Translated {
  bool ok = false;
  std::string log, cubin, lowered_name;
};
// Thread-safe. A source that does not compile gives ok = false and the log.
Translated translate(const Translation& input);

}  // namespace tilewright::jit
