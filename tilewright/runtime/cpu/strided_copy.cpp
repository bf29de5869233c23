// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/cpu/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "tilewright/base/parallel.h"

namespace tilewright::detail {
namespace {

constexpr std::int64_t kGrainBytes = 1 << 18;

// The innermost axis; a constant unit lets the compiler turn memcpy into one load and store.
template <int kUnit>
void copy_line(char* to, const char* from, std::int64_t count, std::int64_t to_step,
               std::int64_t from_step, std::int64_t unit) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_step, from + i * from_step, std::size_t(kUnit > 0 ? kUnit : unit));
  }
}

void copy_any_line(char* to, const char* from, std::int64_t count, std::int64_t to_step,
                   std::int64_t from_step, std::int64_t unit) {
  if (to_step == unit && from_step == unit) {
    std::memcpy(to, from, std::size_t(count * unit));
    return;
  }
  switch (unit) {
    case 1: return copy_line<1>(to, from, count, to_step, from_step, unit);
    case 2: return copy_line<2>(to, from, count, to_step, from_step, unit);
    case 4: return copy_line<4>(to, from, count, to_step, from_step, unit);
    case 8: return copy_line<8>(to, from, count, to_step, from_step, unit);
    default: return copy_line<0>(to, from, count, to_step, from_step, unit);
  }
}

}  // namespace

void copy_rows_on_cpu(const RowCopy& rows) {
  const std::int64_t grain =
      std::max<std::int64_t>(1, kGrainBytes / std::max<std::int64_t>(rows.width, 1));
  parallel_for(rows.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      std::memcpy(static_cast<char*>(rows.to) + row * rows.to_pitch,
                  static_cast<const char*>(rows.from) + row * rows.from_pitch,
                  std::size_t(rows.width));
    }
  });
}

void copy_strided_on_cpu(const StridedCopy& copy) {
  if (copy.extents.rank() == 0) {
    std::memcpy(copy.to, copy.from, std::size_t(copy.unit));
    return;
  }
  const int inner = copy.extents.rank() - 1;
  const std::int64_t length = copy.extents[inner];
  std::int64_t lines = 1;
  for (int axis = 0; axis < inner; ++axis) lines *= copy.extents[axis];
  const std::int64_t grain =
      std::max<std::int64_t>(1, kGrainBytes / std::max<std::int64_t>(length * copy.unit, 1));
  parallel_for(lines, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      std::int64_t rest = line, to = 0, from = 0;
      for (int axis = inner - 1; axis >= 0; --axis) {
        const std::int64_t position = rest % copy.extents[axis];
        rest /= copy.extents[axis];
        to += position * copy.to_strides[axis];
        from += position * copy.from_strides[axis];
      }
      copy_any_line(static_cast<char*>(copy.to) + to, static_cast<const char*>(copy.from) + from,
                    length, copy.to_strides[inner], copy.from_strides[inner], copy.unit);
    }
  });
}

}  // namespace tilewright::detail
