// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace tilewright::ref {

inline double silu(double x) { return x / (1 + std::exp(-x)); }

}  // namespace tilewright::ref
