// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/pointwise_layout.h"

namespace tilewright {

// SiluMulArgs with its rows merged into one where they follow each other.
struct SiluMulPointwiseArgs {
  void* y;
  const void* gate;
  const void* up;
  PointwiseLayout<3> layout;  // y, gate, up
};

}  // namespace tilewright
