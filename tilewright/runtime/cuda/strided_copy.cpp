// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "tilewright/base/error.h"
#include "tilewright/runtime/backend.h"
#include "tilewright/runtime/copy_args.h"
#include "tilewright/runtime/jit/kernel.h"

namespace tilewright::detail {
namespace {

// The largest piece that divides the unit and that every address is a multiple of.
std::int64_t piece_bytes(const StridedCopy& copy) {
  std::uint64_t bits = std::uint64_t(copy.unit) | reinterpret_cast<std::uintptr_t>(copy.to) |
                       reinterpret_cast<std::uintptr_t>(copy.from);
  for (const std::int64_t stride : copy.to_strides) bits |= std::uint64_t(stride);
  for (const std::int64_t stride : copy.from_strides) bits |= std::uint64_t(stride);
  return std::int64_t(std::min<std::uint64_t>(bits & -bits, 8));
}

}  // namespace

void launch_strided_copy(const StridedCopy& copy, const Stream& stream) {
  StridedCopyArgs args{};
  args.to = copy.to;
  args.from = copy.from;
  args.count = element_count(copy.extents);
  args.rank = copy.extents.rank();
  for (int axis = 0; axis < args.rank; ++axis) {
    args.extents[axis] = copy.extents[axis];
    args.to_strides[axis] = copy.to_strides[axis];
    args.from_strides[axis] = copy.from_strides[axis];
  }
  const std::int64_t piece = piece_bytes(copy);
  args.pieces = std::int32_t(copy.unit / piece);
  constexpr std::int64_t kThreads = 256, kMaxBlocks = std::int64_t(1) << 22;
  LaunchShape shape;
  shape.block.x = std::uint32_t(kThreads);
  shape.grid.x = std::uint32_t(std::min((args.count + kThreads - 1) / kThreads, kMaxBlocks));
  // Half of the range, so that the last step of the loop cannot wrap.
  const bool narrow = args.count <= std::int64_t(1) << 31;
  const char* index = narrow ? "unsigned int" : "unsigned long long";
  launch({"tilewright/runtime/copy.cuh", str("tilewright::copy_strided<", piece, ", ", index, ">")},
         shape, stream, args);
}

}  // namespace tilewright::detail
