// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tilewright/runtime/jit/kernel.h"

namespace tilewright {

// The kernels that an op may launch, for `tw precompile`. `<op>_cuda.cpp` writes
// KernelList <op>_manifest() and declares it in `<op>_cuda.h`; the op table finds it by name.
using KernelList = std::vector<KernelSpec>;

}  // namespace tilewright
