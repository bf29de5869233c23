// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/harness/cases.h"

namespace tilewright {

inline std::vector<RowsCase> silu_mul_cases() {
  auto cases = rows_cases({0, 1, 3}, {0, 1, 2, 31, 1536, 1025, 2049}, kFloatPairs, kAllLayouts);
  const auto more = rows_cases({129}, {1536, 1537}, {{DType::f32, DType::f32}}, kAllLayouts);
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace tilewright
