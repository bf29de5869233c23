// SPDX-License-Identifier: Apache-2.0
// `tw precompile`: every kernel of this program into one file, for machines without NVRTC.
#pragma once

#include <string>
#include <vector>

namespace tilewright::cli {

struct PrecompileOptions {
  std::vector<std::string> archs;  // "sm_90a", "sm_80"; commas separate too
  std::string out;                 // the pack; needed unless `list`
  std::vector<std::string> only;   // regular expressions: kernels that match one; empty: all
  bool list = false;               // name the kernels, compile nothing
  bool json = false;
};
int run_precompile(const PrecompileOptions& options);

}  // namespace tilewright::cli
