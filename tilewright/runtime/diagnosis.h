// SPDX-License-Identifier: Apache-2.0
// What `tw doctor` concludes: a pure function of facts, so that every case is tested without the
// hardware.
#pragma once

#include <string>
#include <vector>

#include "tilewright/runtime/device.h"
#include "tilewright/runtime/library.h"

namespace tilewright {

struct GpuFact {
  std::string name;
  Arch arch;
};

struct MachineFacts {
  LibraryStatus driver, nvrtc, cublas_lt;
  int driver_version = 0;      // 13000; 0: unknown
  std::string driver_problem;  // why a loaded driver cannot be used
  std::vector<GpuFact> gpus;
  bool gpu_on_bus = false;        // NVIDIA hardware that the system lists
  bool driver_was_named = false;  // by the environment variable
  bool nvrtc_was_named = false;
  int nvrtc_version = 0;         // 13000
  std::string nvrtc_problem;     // why a loaded NVRTC cannot be used
  std::vector<int> nvrtc_archs;  // 75, 80, 90 …
  std::string pack;              // path of the pack in use
};

MachineFacts gather_facts();
std::vector<Finding> diagnose(const MachineFacts& facts);

}  // namespace tilewright
