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
// Index counts units: divisions in 64 bits cost several times those in 32.
template <int kBytes, class Index>
TW_KERNEL(256)
copy_strided(const TW_GRID_CONSTANT StridedCopyArgs args) {
  using Piece = typename CopyPiece<kBytes>::Type;
  const Index count = Index(args.count), step = Index(gridDim.x) * blockDim.x;
  for (Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    Index rest = i;
    int64_t to = 0, from = 0;
    for (int axis = args.rank - 1; axis >= 0; --axis) {
      const Index extent = Index(args.extents[axis]);
      const Index position = rest % extent;
      rest /= extent;
      to += int64_t(position) * args.to_strides[axis];
      from += int64_t(position) * args.from_strides[axis];
    }
    auto* target = reinterpret_cast<Piece*>(static_cast<char*>(args.to) + to);
    const auto* source = reinterpret_cast<const Piece*>(static_cast<const char*>(args.from) + from);
    for (int piece = 0; piece < args.pieces; ++piece) target[piece] = source[piece];
  }
}

}  // namespace tilewright
