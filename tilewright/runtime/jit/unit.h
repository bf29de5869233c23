// SPDX-License-Identifier: Apache-2.0
// One kernel to compile: everything its code depends on, and the key that follows from it.
#pragma once

#include <string>
#include <vector>

#include "tilewright/runtime/jit/compiled.h"
#include "tilewright/runtime/jit/kernel.h"
#include "tilewright/runtime/jit/nvrtc.h"

namespace tilewright::jit {

struct Unit {
  KernelSpec spec;
  Translation translation;
  Arch arch;
  std::string key;        // of source, headers, expression, ordered options and architecture
  bool cacheable = true;  // false when the sources read are not known
  bool ours = true;       // a user's kernel may lose performance; ours may not
};

// Throws NotFound when the library carries no such file.
Unit library_unit(const KernelSpec& spec, Arch arch);
Unit user_unit(const std::string& source, const std::string& expression, Arch arch,
               const CompileOptions& options);

// From the pack, the disk cache, or NVRTC. Throws CompileError with the log.
Compiled obtain(const Unit& unit, bool* from_cache = nullptr);
// NVRTC itself; neither reads nor writes a cache.
Compiled compile(const Unit& unit);

}  // namespace tilewright::jit
