// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/harness/cases.h"

namespace tilewright {

inline std::vector<RowsCase> softmax_cases() {
  auto cases = rows_cases({0, 1, 3}, {0, 1, 2, 31, 64, 1000, 1025, 8193}, kFloatPairs, kAllLayouts);
  const auto large = rows_cases({257}, {1024, 4099}, {{DType::f32, DType::f32}}, kAllLayouts);
  const auto wide =
      rows_cases({2}, {65537, 262145}, {{DType::f32, DType::f32}, {DType::bf16, DType::bf16}},
                 {Layout::kContiguous, Layout::kMisaligned});
  cases.insert(cases.end(), large.begin(), large.end());
  cases.insert(cases.end(), wide.begin(), wide.end());
  return cases;
}

}  // namespace tilewright
