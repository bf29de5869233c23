// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/formats/gguf_types.h"

#include <array>
#include <string_view>

#include "tilewright/base/text.h"

namespace tilewright {
namespace {

struct Type {
  std::uint32_t number;
  std::string_view name;
  std::optional<DType> dtype;
};

// Numbers of the ggml_type enumeration in the GGUF specification.
constexpr std::array kTypes{
    Type{0, "F32", DType::f32},    Type{1, "F16", DType::f16},    Type{2, "Q4_0", DType::q4_0},
    Type{3, "Q4_1", DType::q4_1},  Type{6, "Q5_0", DType::q5_0},  Type{7, "Q5_1", DType::q5_1},
    Type{8, "Q8_0", DType::q8_0},  Type{9, "Q8_1", {}},           Type{10, "Q2_K", DType::q2_k},
    Type{11, "Q3_K", DType::q3_k}, Type{12, "Q4_K", DType::q4_k}, Type{13, "Q5_K", DType::q5_k},
    Type{14, "Q6_K", DType::q6_k}, Type{15, "Q8_K", {}},          Type{16, "IQ2_XXS", {}},
    Type{17, "IQ2_XS", {}},        Type{18, "IQ3_XXS", {}},       Type{19, "IQ1_S", {}},
    Type{20, "IQ4_NL", {}},        Type{21, "IQ3_S", {}},         Type{22, "IQ2_S", {}},
    Type{23, "IQ4_XS", {}},        Type{24, "I8", DType::i8},     Type{25, "I16", {}},
    Type{26, "I32", DType::i32},   Type{27, "I64", DType::i64},   Type{28, "F64", {}},
    Type{29, "IQ1_M", {}},         Type{30, "BF16", DType::bf16}, Type{34, "TQ1_0", {}},
    Type{35, "TQ2_0", {}},         Type{39, "MXFP4", {}},
};

const Type* find_type(std::uint32_t number) {
  for (const Type& type : kTypes) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

}  // namespace

std::optional<DType> gguf_dtype(std::uint32_t type) {
  const Type* found = find_type(type);
  return found == nullptr ? std::nullopt : found->dtype;
}

std::string gguf_type_name(std::uint32_t type) {
  const Type* found = find_type(type);
  return found == nullptr ? str("type ", type) : str(found->name, " (type ", type, ")");
}

std::string gguf_supported_types() {
  std::string list;
  for (const Type& type : kTypes) {
    if (type.dtype) list += str(list.empty() ? "" : ", ", type.name);
  }
  return list;
}

}  // namespace tilewright
