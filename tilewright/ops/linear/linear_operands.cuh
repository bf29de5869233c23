// SPDX-License-Identifier: Apache-2.0
// Operands whose type is read at run time, and the end of every linear kernel.
#pragma once

#include "tilewright/device/core/types.h"
#include "tilewright/device/ptx/memory.h"
#include "tilewright/ops/linear/linear_args.h"

namespace tilewright {

TW_DEVICE float load_any(const void* base, StorageType type, int64_t index) {
  if (type == kStorageF32) return static_cast<const float*>(base)[index];
  if (type == kStorageF16) return to_float(static_cast<const half*>(base)[index]);
  return to_float(static_cast<const bf16*>(base)[index]);
}

TW_DEVICE void store_any(void* base, StorageType type, int64_t index, float value) {
  if (type == kStorageF32) {
    static_cast<float*>(base)[index] = value;
  } else if (type == kStorageF16) {
    static_cast<half*>(base)[index] = from_float<half>(value);
  } else {
    static_cast<bf16*>(base)[index] = from_float<bf16>(value);
  }
}

TW_DEVICE int64_t element_bytes(StorageType type) { return type == kStorageF32 ? 4 : 2; }

// Whether rows of this operand may be read 16 bytes at a time.
TW_DEVICE bool rows_aligned(const void* base, StorageType type, int64_t stride) {
  return ((reinterpret_cast<uint64_t>(base) | uint64_t(stride * element_bytes(type))) & 15u) == 0;
}

namespace detail {

TW_DEVICE void unpack_any16(const ptx::Word4& raw, StorageType type, float (&value)[8]) {
  TW_UNROLL
  for (int i = 0; i < 4; ++i) {
    const uint32_t low = raw.word[i] & 0xffffu, high = raw.word[i] >> 16;
    const bool is_half = type == kStorageF16;  // a select, not a branch
    value[2 * i] = is_half ? half_to_float(uint16_t(low)) : bits_float(low << 16);
    value[2 * i + 1] = is_half ? half_to_float(uint16_t(high)) : bits_float(high << 16);
  }
}

}  // namespace detail

// Elements index … index + 7, past the L1; their address is aligned to 16 bytes.
TW_DEVICE void load8_aligned(const void* base, StorageType type, int64_t index, float (&value)[8]) {
  const char* source = static_cast<const char*>(base) + index * element_bytes(type);
  const ptx::Word4 first = ptx::ld_global_cg(source);
  if (type == kStorageF32) {
    const ptx::Word4 second = ptx::ld_global_cg(source + 16);
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      value[i] = detail::bits_float(first.word[i]);
      value[i + 4] = detail::bits_float(second.word[i]);
    }
  } else {
    detail::unpack_any16(first, type, value);
  }
}

// The same of any alignment; elements past `count` read as 0.
TW_DEVICE void load8_any(const void* base, StorageType type, int64_t index, int64_t count,
                         bool aligned, float (&value)[8]) {
  if (aligned && count >= 8) return load8_aligned(base, type, index, value);
  if (type == kStorageF32) {
    const float* source = static_cast<const float*>(base) + index;
    TW_UNROLL
    for (int i = 0; i < 8; ++i) value[i] = i < count ? source[i] : 0.0f;
    return;
  }
  const uint16_t* source = static_cast<const uint16_t*>(base) + index;
  ptx::Word4 raw;
  TW_UNROLL
  for (int i = 0; i < 4; ++i) {
    const uint32_t low = 2 * i < count ? source[2 * i] : 0u;
    const uint32_t high = 2 * i + 1 < count ? source[2 * i + 1] : 0u;
    raw.word[i] = low | high << 16;
  }
  detail::unpack_any16(raw, type, value);
}

TW_DEVICE float silu(float value) { return value / (1.0f + __expf(-value)); }

TW_DEVICE float load_residual(const LinearArgs& args, int64_t m, int64_t column) {
  if (args.residual == nullptr) return 0;
  return load_any(args.residual, args.residual_type, m * args.residual_stride + column);
}

// y[m, column] = value + bias + residual; `added` is the residual's element.
TW_DEVICE void finish(const LinearArgs& args, int64_t m, int64_t column, float value, float added) {
  if (args.bias != nullptr) value += load_any(args.bias, args.bias_type, column);
  store_any(args.y, args.y_type, m * args.y_stride + column, value + added);
}
TW_DEVICE void finish(const LinearArgs& args, int64_t m, int64_t column, float value) {
  finish(args, m, column, value, load_residual(args, m, column));
}

// Row `row` of the weights that follow each other.
TW_DEVICE const char* weight_row(const LinearArgs& args, int64_t row) {
  int part = 0;
  if (row >= args.part[0].rows) {
    row -= args.part[0].rows;
    part = 1;
    if (row >= args.part[1].rows) {
      row -= args.part[1].rows;
      part = 2;
    }
  }
  return static_cast<const char*>(args.part[part].data) + row * args.part[part].row_bytes;
}

// Row `row` of the gate (0) or the up (1) weight.
TW_DEVICE const char* pair_row(const LinearArgs& args, int64_t row, int part) {
  return static_cast<const char*>(args.part[part].data) + row * args.part[part].row_bytes;
}

}  // namespace tilewright
