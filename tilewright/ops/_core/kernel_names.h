// SPDX-License-Identifier: Apache-2.0
// Name expressions of kernels and the arithmetic of grids, for `<op>_cuda.cpp`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tilewright/base/dtype.h"
#include "tilewright/base/error.h"
#include "tilewright/runtime/jit/kernel.h"

namespace tilewright {

// The C++ type that a kernel stores a dtype as.
inline std::string cpp_type(DType dtype) {
  switch (dtype) {
    case DType::f32: return "float";
    case DType::f16: return "tilewright::half";
    case DType::bf16: return "tilewright::bf16";
    case DType::i32: return "int";
    case DType::q8_0: return "tilewright::BlockQ8_0";
    case DType::q4_0: return "tilewright::BlockQ4_0";
    case DType::q4_1: return "tilewright::BlockQ4_1";
    case DType::q6_k: return "tilewright::BlockQ6K";
    default: TW_FAIL(Unsupported, "cuda: no kernel stores ", name(dtype));
  }
}

namespace detail {
inline std::string template_argument(DType dtype) { return cpp_type(dtype); }
inline std::string template_argument(int value) { return std::to_string(value); }
inline std::string template_argument(bool value) { return value ? "true" : "false"; }
}  // namespace detail

// instance("rms_norm_rows", DType::bf16, 256) is "tilewright::rms_norm_rows<tilewright::bf16,
// 256>".
template <class... Arguments>
std::string instance(const std::string& kernel, const Arguments&... arguments) {
  std::string list;
  ((list += (list.empty() ? "" : ", ") + detail::template_argument(arguments)), ...);
  return "tilewright::" + kernel + "<" + list + ">";
}

inline constexpr DType kRealTypes[] = {DType::f32, DType::f16, DType::bf16};

inline std::int64_t ceil_div(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// A count of blocks as the x extent of a grid.
inline std::uint32_t grid_extent(std::int64_t blocks, const char* op) {
  TW_CHECK(blocks > 0 && blocks <= 0x7fffffff, InvalidArgument, op, ": needs ", blocks,
           " blocks, a grid holds at most 2147483647; split the call");
  return static_cast<std::uint32_t>(blocks);
}

// Programmatic dependent launch pays on grids of a wave or so and costs on large ones: 0.49 against
// 0.55 us a kernel at 132 blocks, 1.51 against 1.10 at 1056 (H200, chains of empty kernels).
inline bool worth_programmatic(std::int64_t blocks) { return blocks <= 528; }

inline LaunchShape row_of_blocks(std::int64_t blocks, std::uint32_t threads, const char* op) {
  LaunchShape shape;
  shape.grid.x = grid_extent(blocks, op);
  shape.block.x = threads;
  shape.programmatic = worth_programmatic(blocks);
  return shape;
}

}  // namespace tilewright
