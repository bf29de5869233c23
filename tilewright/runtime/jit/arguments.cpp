// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/runtime/jit/signature.h"

namespace tilewright::jit {
namespace {

struct ElementType {
  std::string_view cpp;
  std::array<DType, 3> dtypes;
  int count;
};

// What a pointer's element type may point at. Bytes take anything of one byte and block types.
constexpr ElementType kElements[] = {
    {"float", {DType::f32}, 1},
    {"float2", {DType::f32}, 1},
    {"float4", {DType::f32}, 1},
    {"tilewright::half", {DType::f16}, 1},
    {"__half", {DType::f16}, 1},
    {"__half2", {DType::f16}, 1},
    {"tilewright::bf16", {DType::bf16}, 1},
    {"__nv_bfloat16", {DType::bf16}, 1},
    {"__nv_bfloat162", {DType::bf16}, 1},
    {"tilewright::fp8_e4m3", {DType::f8e4m3}, 1},
    {"__nv_fp8_e4m3", {DType::f8e4m3}, 1},
    {"tilewright::fp8_e5m2", {DType::f8e5m2}, 1},
    {"__nv_fp8_e5m2", {DType::f8e5m2}, 1},
    {"short", {DType::f16, DType::bf16}, 2},
    {"unsigned short", {DType::f16, DType::bf16}, 2},
    {"signed char", {DType::i8}, 1},
    {"char", {DType::i8, DType::u8}, 2},
    {"int", {DType::i32}, 1},
    {"unsigned int", {DType::i32}, 1},
    {"long", {DType::i64}, 1},
    {"long long", {DType::i64}, 1},
    {"unsigned long", {DType::i64}, 1},
    {"unsigned long long", {DType::i64}, 1},
    {"bool", {DType::bool8}, 1},
};

struct Context {
  const Signature& signature;
  std::size_t index;
  Device device;
  std::string prefix() const {
    return str("kernel ", signature.kernel, ", argument ", index + 1, ": ");
  }
};

// "float const*" -> "float"; empty when the type is no pointer.
std::string pointee(std::string type) {
  if (!type.ends_with('*')) return "";
  type.pop_back();
  for (const std::string_view word : {" const", " volatile"}) {
    if (const auto at = type.find(word); at != std::string::npos) type.erase(at, word.size());
  }
  return type;
}

bool accepts(const std::string& element, DType dtype) {
  if (element == "void") return true;
  if (element == "unsigned char") return info(dtype).bytes == 1 || is_block_type(dtype);
  for (const ElementType& known : kElements) {
    if (known.cpp != element) continue;
    for (int i = 0; i < known.count; ++i) {
      if (known.dtypes[std::size_t(i)] == dtype) return true;
    }
    return false;
  }
  // A type of the user's own: its size is theirs to know.
  return element != "double";
}

std::uint64_t pack_tensor(const Context& at, const Parameter& parameter, const Tensor& tensor) {
  const std::string wants = parameter.type.empty()
                                ? "a parameter of " + std::to_string(parameter.bytes) + " bytes"
                                : parameter.type;
  TW_CHECK(tensor.defined(), InvalidArgument, at.prefix(), "got an undefined tensor, wants ",
           wants);
  TW_CHECK(tensor.device() == at.device, InvalidArgument, at.prefix(), "got ", tensor.describe(),
           ", wants a tensor on ", at.device, "; copy it with to(stream)");
  TW_CHECK(tensor.contiguous(), InvalidArgument, at.prefix(), "got ", tensor.describe(),
           ", wants a contiguous tensor; make a copy with to(stream)");
  const std::string element = pointee(parameter.type);
  TW_CHECK(parameter.type.empty() || !element.empty(), InvalidArgument, at.prefix(), "got ",
           tensor.describe(), ", wants a scalar ", wants);
  TW_CHECK(parameter.type.empty() || accepts(element, tensor.dtype()), InvalidArgument, at.prefix(),
           "got ", tensor.describe(), ", wants ", wants);
  TW_CHECK(parameter.bytes == 0 || parameter.bytes == sizeof(void*), InvalidArgument, at.prefix(),
           "got ", tensor.describe(), ", wants ", wants);
  return reinterpret_cast<std::uintptr_t>(tensor.data());
}

template <class To>
std::uint64_t bits_of(To value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

// Whether `value` is the same number as a To. Floats never become integers by themselves.
template <class To, class From>
bool exactly(From value, To& result) {
  if constexpr (std::is_same_v<To, From>) {
    result = value;
    return true;
  } else if constexpr (std::is_same_v<To, bool> || std::is_same_v<From, bool>) {
    return false;
  } else if constexpr (std::is_floating_point_v<From>) {
    if constexpr (!std::is_floating_point_v<To>) {
      return false;
    } else {
      result = To(value);
      return std::isnan(value) || From(result) == value;
    }
  } else if constexpr (std::is_floating_point_v<To>) {
    result = To(value);
    // Past 2^53 or 2^24 a float may round; within, it is exact.
    const auto limit = std::int64_t(1) << std::numeric_limits<To>::digits;
    return std::in_range<std::int64_t>(value) && std::int64_t(value) <= limit &&
           std::int64_t(value) >= -limit;
  } else {
    result = To(value);
    return std::in_range<To>(value);
  }
}

template <class From>
constexpr const char* scalar_name() {
  if constexpr (std::is_same_v<From, bool>)
    return "bool";
  else if constexpr (std::is_same_v<From, float>)
    return "float";
  else if constexpr (std::is_same_v<From, double>)
    return "double";
  else if constexpr (std::is_same_v<From, std::int32_t>)
    return "int";
  else if constexpr (std::is_same_v<From, std::uint32_t>)
    return "unsigned int";
  else if constexpr (std::is_same_v<From, std::int64_t>)
    return "int64";
  else
    return "uint64";
}

template <class From>
class ScalarPacker {
 public:
  ScalarPacker(const Context& at, const Parameter& parameter, From value)
      : at_(at), parameter_(parameter), value_(value) {}

  std::uint64_t pack() {
    const std::string& type = parameter_.type;
    if (type.empty()) return by_size();
    if (type == "bool") return as<bool>();
    if (type == "char" || type == "signed char") return as<signed char>();
    if (type == "unsigned char") return as<unsigned char>();
    if (type == "short") return as<short>();
    if (type == "unsigned short") return as<unsigned short>();
    if (type == "int") return as<std::int32_t>();
    if (type == "unsigned int") return as<std::uint32_t>();
    if (type == "long" || type == "long long") return as<std::int64_t>();
    if (type == "unsigned long" || type == "unsigned long long") return as<std::uint64_t>();
    if (type == "float") return as<float>();
    if (type == "double") return as<double>();
    refuse("");
  }

 private:
  // extern "C": only the size is known, so the argument must have it already.
  std::uint64_t by_size() {
    if (parameter_.bytes != 0 && parameter_.bytes != sizeof(From)) refuse("");
    return bits_of(value_);
  }
  template <class To>
  std::uint64_t as() {
    To result{};
    if (!exactly<To>(value_, result)) refuse(", which cannot hold it exactly");
    return bits_of(result);
  }
  [[noreturn]] void refuse(const char* why) {
    const std::string wants =
        parameter_.type.empty() ? str("a value of ", parameter_.bytes, " bytes") : parameter_.type;
    TW_FAIL(InvalidArgument, at_.prefix(), "got ", scalar_name<From>(), " ", value_, ", wants ",
            wants, why);
  }

  const Context& at_;
  const Parameter& parameter_;
  From value_;
};

std::uint64_t pack_one(const Context& at, const Parameter& parameter,
                       const KernelArgument& argument) {
  return std::visit(
      [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, Tensor>)
          return pack_tensor(at, parameter, value);
        else
          return ScalarPacker<Value>(at, parameter, value).pack();
      },
      argument);
}

std::string type_list(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& parameter : parameters) {
    text += text.empty() ? "" : ", ";
    text += parameter.type.empty() ? str(parameter.bytes, " bytes") : parameter.type;
  }
  return text;
}

}  // namespace

PackedArguments pack_arguments(const Signature& signature, Device device,
                               const std::vector<KernelArgument>& arguments) {
  if (signature.parameters) {
    TW_CHECK(arguments.size() == signature.parameters->size(), InvalidArgument, "kernel ",
             signature.kernel, ": got ", arguments.size(), " arguments, wants ",
             signature.parameters->size(), " (", type_list(*signature.parameters), ")");
  }
  PackedArguments packed;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Context at{signature, i, device};
    const Parameter parameter = signature.parameters ? (*signature.parameters)[i] : Parameter{};
    packed.values.push_back(pack_one(at, parameter, arguments[i]));
  }
  return packed;
}

}  // namespace tilewright::jit
