// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/harness/cases.h"

namespace tilewright {

inline std::vector<RowsCase> layer_norm_cases() {
  auto cases =
      rows_cases({0, 1, 3}, {0, 1, 2, 31, 576, 1024, 1025, 4097}, kFloatPairs, kAllLayouts);
  const auto more = rows_cases({257}, {576, 1025}, {{DType::f32, DType::f32}}, kAllLayouts);
  const auto wide = rows_cases({2}, {65537}, {{DType::f32, DType::f32}, {DType::f16, DType::f16}},
                               {Layout::kContiguous, Layout::kMisaligned});
  cases.insert(cases.end(), more.begin(), more.end());
  cases.insert(cases.end(), wide.begin(), wide.end());
  return cases;
}

}  // namespace tilewright
