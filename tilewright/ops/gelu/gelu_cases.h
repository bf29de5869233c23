// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/harness/cases.h"

namespace tilewright {

inline std::vector<RowsCase> gelu_cases() {
  auto cases = rows_cases({0, 1, 3}, {0, 1, 2, 31, 1025, 3072}, kFloatPairs, kAllLayouts);
  const auto more = rows_cases({129}, {768, 1537}, {{DType::f32, DType::f32}}, kAllLayouts);
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace tilewright
