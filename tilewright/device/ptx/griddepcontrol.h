// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch. Both do nothing in an ordinary launch and below sm_90.
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright::ptx {

// Returns when the kernels before this one have ended and their writes are visible. Goes before the
// first access to what they wrote and before the first write to what they read.
TW_DEVICE void griddepcontrol_wait() {
#if TW_DEVICE_PASS && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// The next kernel may start once every block has executed this or has ended.
TW_DEVICE void griddepcontrol_launch_dependents() {
#if TW_DEVICE_PASS && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace tilewright::ptx
