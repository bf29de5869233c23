// SPDX-License-Identifier: Apache-2.0
// One block a token; eight elements a thread at a time. Bound: memory.
#pragma once

#include "tilewright/device/core/vec8.h"
#include "tilewright/device/ptx/griddepcontrol.h"
#include "tilewright/ops/embedding/embedding_args.h"

namespace tilewright {

inline constexpr int kEmbeddingThreads = 256;

// Stored blocks of the GGUF specification; ops/_core/blocks.h has their layouts. They start on even
// addresses at best, so they are read by bytes.
struct BlockQ8_0 {};
struct BlockQ4_0 {};
struct BlockQ4_1 {};
struct BlockQ6K {};

TW_DEVICE float half_at(const uint8_t* bytes) {
  return detail::half_to_float(uint16_t(bytes[0] | uint16_t(bytes[1]) << 8));
}

// Element `i` of a block.
TW_DEVICE float block_value(BlockQ8_0, const uint8_t* block, int i) {
  return half_at(block) * float(int8_t(block[2 + i]));
}
TW_DEVICE int nibble_at(const uint8_t* bytes, int i) { return bytes[i % 16] >> (i / 16 * 4) & 15; }
TW_DEVICE float block_value(BlockQ4_0, const uint8_t* block, int i) {
  return half_at(block) * float(nibble_at(block + 2, i) - 8);
}
TW_DEVICE float block_value(BlockQ4_1, const uint8_t* block, int i) {
  return half_at(block) * float(nibble_at(block + 4, i)) + half_at(block + 2);
}
// 128 elements share 64 low bytes and 32 high bytes: quarter j of them takes the low (j < 2) or
// high nibbles of half j % 2 of the low bytes, and bits 2j and 2j+1 of the high bytes.
TW_DEVICE float block_value(BlockQ6K, const uint8_t* block, int i) {
  const int half_block = i / 128, quarter = i / 32 % 4, at = i % 32;
  const int low = block[64 * half_block + 32 * (quarter % 2) + at] >> (quarter / 2 * 4) & 15;
  const int high = block[128 + 32 * half_block + at] >> (2 * quarter) & 3;
  const float scale = half_at(block + 208) * float(int8_t(block[192 + i / 16]));
  return scale * float((low | high << 4) - 32);
}

template <class Block>
inline constexpr int kBlockElements = 32;
template <>
inline constexpr int kBlockElements<BlockQ6K> = 256;
template <class Block>
inline constexpr int kBlockBytes = 34;
template <>
inline constexpr int kBlockBytes<BlockQ4_0> = 18;
template <>
inline constexpr int kBlockBytes<BlockQ4_1> = 20;
template <>
inline constexpr int kBlockBytes<BlockQ6K> = 210;

template <class Block>
TW_DEVICE Vec8<float> table_load8(Block tag, const uint8_t* row, int64_t at, int64_t) {
  const uint8_t* block = row + at / kBlockElements<Block> * kBlockBytes<Block>;
  const int first = int(at % kBlockElements<Block>);
  Vec8<float> values;
  TW_UNROLL
  for (int i = 0; i < kVec8; ++i) values.value[i] = block_value(tag, block, first + i);
  return values;
}
template <class T>
TW_DEVICE Vec8<float> plain_load8(const uint8_t* row, int64_t at, int64_t count) {
  const T* source = reinterpret_cast<const T*>(row) + at;
  return load8(source, count, aligned16(source));
}
TW_DEVICE Vec8<float> table_load8(float, const uint8_t* row, int64_t at, int64_t count) {
  return plain_load8<float>(row, at, count);
}
TW_DEVICE Vec8<float> table_load8(half, const uint8_t* row, int64_t at, int64_t count) {
  return plain_load8<half>(row, at, count);
}
TW_DEVICE Vec8<float> table_load8(bf16, const uint8_t* row, int64_t at, int64_t count) {
  return plain_load8<bf16>(row, at, count);
}

template <class Y, class Table>
TW_KERNEL(kEmbeddingThreads)
embedding_rows(const TW_GRID_CONSTANT EmbeddingArgs args) {
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  const int64_t token = blockIdx.x;
  const int64_t id = args.ids[token];
  const bool known = id >= 0 && id < args.vocab;
  const uint8_t* row =
      static_cast<const uint8_t*>(args.table) + (known ? id : 0) * args.table_row_bytes;
  Y* y = static_cast<Y*>(args.y) + token * args.y_stride;
  for (int64_t at = int64_t(threadIdx.x) * kVec8; at < args.dim; at += kEmbeddingThreads * kVec8) {
    Vec8<float> values;
    if (known) {
      values = table_load8(Table(), row, at, args.dim - at);
    } else {
      TW_UNROLL
      for (int i = 0; i < kVec8; ++i) values.value[i] = detail::bits_float(0x7fc00000u);
    }
    store8(y + at, args.dim - at, aligned16(y + at), values);
  }
}

}  // namespace tilewright
