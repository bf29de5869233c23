// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/rows.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "tilewright/device/core/types.h"
#include "tilewright/ops/_core/convert_table.h"
#include "tilewright/ops/_core/dispatch.h"

namespace tilewright {
namespace {

struct Scratch {
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::unique_ptr<float, Free> memory;
  std::int64_t floats = 0;
};

}  // namespace

void read_floats(DType dtype, const void* source, float* destination, std::int64_t n) {
  switch (dtype) {
    case DType::f32: std::memcpy(destination, source, std::size_t(n) * sizeof(float)); return;
    case DType::f16: return convert_table().half_to_float(source, destination, n);
    case DType::bf16: return convert_table().bf16_to_float(source, destination, n);
    default: TW_FAIL(Internal, "read_floats: got ", name(dtype));
  }
}

void write_floats(DType dtype, const float* source, void* destination, std::int64_t n) {
  switch (dtype) {
    case DType::f32:
      if (destination != source) std::memcpy(destination, source, std::size_t(n) * sizeof(float));
      return;
    case DType::f16:
      if (convert_table().float_to_half) {
        return convert_table().float_to_half(source, destination, n);
      }
      for (std::int64_t i = 0; i < n; ++i) {
        static_cast<half*>(destination)[i] = from_float<half>(source[i]);
      }
      return;
    case DType::bf16: return convert_table().float_to_bf16(source, destination, n);
    default: TW_FAIL(Internal, "write_floats: got ", name(dtype));
  }
}

const float* row_floats(DType dtype, const void* row, float* scratch, std::int64_t n) {
  if (dtype == DType::f32) return static_cast<const float*>(row);
  read_floats(dtype, row, scratch, n);
  return scratch;
}

float* thread_scratch(int slot, std::int64_t floats) {
  constexpr int kSlots = 2;
  static thread_local Scratch scratch[kSlots];
  Scratch& mine = scratch[slot];
  if (floats > mine.floats) {
    const std::int64_t rounded = (floats + 1023) / 1024 * 1024;
    mine.memory.reset(
        static_cast<float*>(std::aligned_alloc(64, std::size_t(rounded) * sizeof(float))));
    mine.floats = mine.memory ? rounded : 0;
    TW_CHECK(mine.memory, OutOfMemory, "cpu scratch: no memory for ", rounded, " floats");
  }
  return mine.memory.get();
}

}  // namespace tilewright
