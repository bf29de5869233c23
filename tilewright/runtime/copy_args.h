// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright {

struct StridedCopyArgs {
  void* to;
  const void* from;
  int64_t count;                                       // units in all
  int64_t extents[8], to_strides[8], from_strides[8];  // outermost first; strides in bytes
  int32_t rank;
  int32_t pieces;  // of a unit
};

}  // namespace tilewright
