// SPDX-License-Identifier: Apache-2.0
// Operands whose type is read at run time: weights, biases and other operands beside the main one,
// which would otherwise multiply the number of kernels. The branch is uniform.
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright {

enum StorageType : int32_t { kStorageF32, kStorageF16, kStorageBf16 };

}  // namespace tilewright
