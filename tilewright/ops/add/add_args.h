// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/pointwise_layout.h"

namespace tilewright {

struct AddArgs {
  void* y;
  const void* a;
  const void* b;
  PointwiseLayout<3> layout;  // y, a, b
};

}  // namespace tilewright
