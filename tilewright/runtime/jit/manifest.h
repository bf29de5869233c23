// SPDX-License-Identifier: Apache-2.0
// Which kernels `tw precompile` puts into a pack: every op names its own.
#pragma once

#include <string>
#include <vector>

#include "tilewright/runtime/jit/kernel.h"

namespace tilewright {

// `specs` is called when the manifest is asked for. Registering an op again replaces it.
void register_manifest(const char* op, std::vector<KernelSpec> (*specs)());
struct ManifestEntry {
  std::string op;
  std::vector<KernelSpec> specs;
};
std::vector<ManifestEntry> manifest_by_op();  // sorted by op
std::vector<KernelSpec> manifest();           // all, each once

}  // namespace tilewright
