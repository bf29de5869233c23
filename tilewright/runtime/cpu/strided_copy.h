// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/backend.h"

namespace tilewright::detail {

void copy_rows_on_cpu(const RowCopy& rows);
void copy_strided_on_cpu(const StridedCopy& copy);

}  // namespace tilewright::detail
