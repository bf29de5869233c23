// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/harness/cases.h"

namespace tilewright {

// rows: tokens; cols: the width of the table.
inline std::vector<RowsCase> embedding_cases() {
  return rows_cases({0, 1, 7, 130}, {0, 1, 31, 64, 576, 1025}, kFloatPairs, kAllLayouts);
}

}  // namespace tilewright
