// SPDX-License-Identifier: Apache-2.0
// Kernels in a GPU's memory. Loaded once a device and kept for the life of the process.
#pragma once

#include <atomic>
#include <string>

#include "tilewright/runtime/cuda/driver.h"
#include "tilewright/runtime/jit/unit.h"

namespace tilewright::jit {

struct LoadedKernel {
  cuda::Function function = nullptr;
  std::string name;  // for messages: the expression
  std::string lowered_name;
  int device = 0;
  cuda::Context context = nullptr;
  int static_shared = 0, max_dynamic_shared = 0, max_threads = 0;
  std::atomic<bool> wide_clusters = false;  // allowed beyond the portable size
  KernelReport report;
};

// Compiles and loads on first use. Throws InvalidArgument, naming the kernel, when that would
// happen inside a capture or in real-time mode.
LoadedKernel& loaded_kernel(const KernelSpec& spec, const Stream& stream);
LoadedKernel& loaded_kernel(const Unit& unit, const Stream& stream);

// `parameters`: one pointer for each parameter of the kernel.
void launch_loaded(LoadedKernel& kernel, const LaunchShape& shape, const Stream& stream,
                   void** parameters);

}  // namespace tilewright::jit
