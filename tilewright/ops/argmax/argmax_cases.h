// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/harness/cases.h"

namespace tilewright {

inline std::vector<RowsCase> argmax_cases() {
  return rows_cases({0, 1, 5}, {1, 2, 7, 8, 9, 31, 1000, 4097, 49152},
                    {{DType::f32, DType::i32}, {DType::f16, DType::i32}, {DType::bf16, DType::i32}},
                    kAllLayouts);
}

}  // namespace tilewright
