// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/copy_args.h"

namespace tilewright {

template <int kBytes>
struct CopyPiece;
template <>
struct CopyPiece<1> {
  using Type = uint8_t;
};
template <>
struct CopyPiece<2> {
  using Type = uint16_t;
};
template <>
struct CopyPiece<4> {
  using Type = uint32_t;
};
template <>
struct CopyPiece<8> {
  using Type = uint64_t;
};

// One thread a unit, in the order of the target's innermost axis. A unit is `pieces` loads and
// stores of kBytes: blocks of quantised weights are copied in pieces that their alignment allows.
template <int kBytes>
TW_KERNEL(256)
copy_strided(const TW_GRID_CONSTANT StridedCopyArgs args) {
  using Piece = typename CopyPiece<kBytes>::Type;
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < args.count; i += step) {
    int64_t rest = i, to = 0, from = 0;
    for (int axis = args.rank - 1; axis >= 0; --axis) {
      const int64_t position = rest % args.extents[axis];
      rest /= args.extents[axis];
      to += position * args.to_strides[axis];
      from += position * args.from_strides[axis];
    }
    auto* target = reinterpret_cast<Piece*>(static_cast<char*>(args.to) + to);
    const auto* source = reinterpret_cast<const Piece*>(static_cast<const char*>(args.from) + from);
    for (int piece = 0; piece < args.pieces; ++piece) target[piece] = source[piece];
  }
}

}  // namespace tilewright
