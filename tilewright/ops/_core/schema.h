// SPDX-License-Identifier: Apache-2.0
// The table of ops, generated from the folders (cmake/TilewrightOps.cmake).
#pragma once

#include <span>

#include "tilewright/ops/_core/manifest.h"

namespace tilewright {

struct OpInfo {
  const char* name;  // of the folder
  const char* doc;   // one line: what it computes
  KernelList (*manifest)();
};

// All ops, by name. Their kernels are registered for `tw precompile` at start.
std::span<const OpInfo> op_table();

}  // namespace tilewright
