// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "tilewright/runtime/jit/unit.h"

namespace tilewright::jit {

struct BatchResult {
  Unit unit;
  Compiled compiled;
  bool from_cache = false;
};
using UnitCompiler = std::function<Compiled(const Unit&, bool* from_cache)>;

// Distinct specs, compiled in parallel, in their order. The first failure stops the rest and is
// rethrown. Progress is reported one call at a time, from any thread.
std::vector<BatchResult> compile_batch(const std::vector<KernelSpec>& specs, Arch arch,
                                       const CompileProgress& progress,
                                       const UnitCompiler& compiler);

}  // namespace tilewright::jit
