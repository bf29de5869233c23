// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/dtype.h"

#include <array>
#include <ostream>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

// Block sizes and bytes: the GGUF specification.
constexpr std::array<DTypeInfo, kDTypeCount> kInfo{{
    {"f32", 1, 4},      {"f16", 1, 2},      {"bf16", 1, 2},     {"f8e4m3", 1, 1},
    {"f8e5m2", 1, 1},   {"i8", 1, 1},       {"u8", 1, 1},       {"i32", 1, 4},
    {"i64", 1, 8},      {"bool", 1, 1},     {"q4_0", 32, 18},   {"q4_1", 32, 20},
    {"q5_0", 32, 22},   {"q5_1", 32, 24},   {"q8_0", 32, 34},   {"q2_k", 256, 84},
    {"q3_k", 256, 110}, {"q4_k", 256, 144}, {"q5_k", 256, 176}, {"q6_k", 256, 210},
}};

}  // namespace

const DTypeInfo& info(DType dtype) { return kInfo.at(static_cast<std::size_t>(dtype)); }

bool is_floating(DType dtype) { return dtype <= DType::f8e5m2; }

DType parse_dtype(std::string_view text) {
  std::string known;
  for (std::size_t i = 0; i < kInfo.size(); ++i) {
    if (kInfo[i].name == text) return static_cast<DType>(i);
    known += str(i == 0 ? "" : ", ", kInfo[i].name);
  }
  TW_FAIL(InvalidArgument, "unknown dtype '", text, "'; known are ", known);
}

std::size_t bytes_of(DType dtype, std::int64_t elements) {
  const DTypeInfo& type = info(dtype);
  TW_CHECK(elements >= 0, InvalidArgument, "negative element count ", elements);
  TW_CHECK(elements % type.block == 0, InvalidArgument, elements, " elements do not fill whole ",
           type.name, " blocks of ", type.block);
  std::size_t bytes = 0;
  TW_CHECK(!__builtin_mul_overflow(static_cast<std::size_t>(elements / type.block),
                                   static_cast<std::size_t>(type.bytes), &bytes),
           InvalidArgument, elements, " elements of ", type.name, " overflow the address space");
  return bytes;
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }

}  // namespace tilewright
