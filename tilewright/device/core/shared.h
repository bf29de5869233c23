// SPDX-License-Identifier: Apache-2.0
// The dynamic shared memory of a block, as bytes: TW_DYNAMIC_SHARED(memory);
#pragma once

#include "tilewright/device/core/config.h"

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define TW_DYNAMIC_SHARED(name) extern __shared__ __align__(128) char name[]
#endif
