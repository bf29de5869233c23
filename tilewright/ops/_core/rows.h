// SPDX-License-Identifier: Apache-2.0
// Rows of f32, f16 or bf16 as floats: what cpu ops read and write.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/base/dtype.h"

namespace tilewright {

void read_floats(DType dtype, const void* source, float* destination, std::int64_t n);
void write_floats(DType dtype, const float* source, void* destination, std::int64_t n);

// The row itself when it is f32, else its values in `scratch`.
const float* row_floats(DType dtype, const void* row, float* scratch, std::int64_t n);

// Element `index` of a plain row.
inline const void* at(const void* data, std::int64_t index, DType dtype) {
  return static_cast<const char*>(data) + index * info(dtype).bytes;
}
inline void* at(void* data, std::int64_t index, DType dtype) {
  return static_cast<char*>(data) + index * info(dtype).bytes;
}

// At least `floats` floats of this thread, 64-byte aligned, valid until the next call with the same
// slot. Slot 0 is for what a caller shares with its workers, 1 for a worker's own.
float* thread_scratch(int slot, std::int64_t floats);

}  // namespace tilewright
