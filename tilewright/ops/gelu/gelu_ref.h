// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "tilewright/ops/gelu/gelu.h"

namespace tilewright::ref {

// With erfc and exp on the negative side, where 1 + erf and 1 + tanh would cancel.
inline double gelu(double x, GeluForm form) {
  if (form == GeluForm::kErf) return x / 2 * std::erfc(-x / std::sqrt(2.0));
  const double u = std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * u));
}

}  // namespace tilewright::ref
