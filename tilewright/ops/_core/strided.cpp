// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/strided.h"

#include "tilewright/ops/_core/dispatch.h"
#include "tilewright/ops/_core/rows.h"

namespace tilewright {

void read_strided(DType dtype, const void* source, std::int64_t offset, std::int64_t step,
                  float* destination, std::int64_t n) {
  if (step == 1) return read_floats(dtype, at(source, offset, dtype), destination, n);
  dispatch_float(dtype, [&](auto tag) {
    const auto* values = static_cast<const typename decltype(tag)::type*>(source) + offset;
    for (std::int64_t i = 0; i < n; ++i) destination[i] = to_float(values[i * step]);
  });
}

void write_strided(DType dtype, const float* source, void* destination, std::int64_t offset,
                   std::int64_t step, std::int64_t n) {
  if (step == 1) return write_floats(dtype, source, at(destination, offset, dtype), n);
  dispatch_float(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* values = static_cast<T*>(destination) + offset;
    for (std::int64_t i = 0; i < n; ++i) values[i * step] = from_float<T>(source[i]);
  });
}

}  // namespace tilewright
