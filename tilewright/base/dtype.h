// SPDX-License-Identifier: Apache-2.0
// Element types. GGUF block types are opaque storage: `block` elements share `bytes` bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace tilewright {

enum class DType : std::uint8_t {
  f32,
  f16,
  bf16,
  f8e4m3,
  f8e5m2,
  i8,
  u8,
  i32,
  i64,
  bool8,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
};
inline constexpr int kDTypeCount = 20;

struct DTypeInfo {
  std::string_view name;
  int block;  // elements in a block: 1 for plain types
  int bytes;  // bytes of a block
};

const DTypeInfo& info(DType dtype);
inline std::string_view name(DType dtype) { return info(dtype).name; }
inline bool is_block_type(DType dtype) { return dtype >= DType::q4_0; }
bool is_floating(DType dtype);
// Throws InvalidArgument that lists the known names.
DType parse_dtype(std::string_view name);
// Bytes of `elements` elements; throws if they do not fill whole blocks or the product overflows.
std::size_t bytes_of(DType dtype, std::int64_t elements);
std::ostream& operator<<(std::ostream& out, DType dtype);

}  // namespace tilewright
