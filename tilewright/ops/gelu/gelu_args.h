// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/_core/pointwise_layout.h"

namespace tilewright {

struct GeluArgs {
  void* y;
  const void* x;
  PointwiseLayout<2> layout;  // y, x
  int32_t tanh_form;          // 1: GeluForm::kTanh; 0: kErf
};

}  // namespace tilewright
