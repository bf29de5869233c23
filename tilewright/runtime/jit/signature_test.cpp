// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/signature.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tilewright/base/error.h"

namespace tilewright::jit {
namespace {

using Types = std::vector<std::string>;

TEST(ParameterTypes, ReadsMangledNames) {
  EXPECT_EQ(parameter_types("_Z5scalePfPKffi"), (Types{"float*", "float const*", "float", "int"}));
  EXPECT_EQ(parameter_types("_Z5emptyv"), Types{});
  // template <class T> void scale(T*, long)
  EXPECT_EQ(parameter_types("_Z5scaleIN10tilewright4bf16EEvPT_l"),
            (Types{"tilewright::bf16*", "long"}));
  // void kernel<int, Pair<int, float>>(Pair<int, float>, void (*)(int, int))
  EXPECT_EQ(parameter_types("_Z6kernelIi4PairIifEEvT0_PFviiE"),
            (Types{"Pair<int, float>", "void (*)(int, int)"}));
  EXPECT_EQ(parameter_types("scale"), std::nullopt);
  EXPECT_EQ(parameter_types("_Znonsense"), std::nullopt);
}

Signature signature(const Types& types, const std::vector<std::size_t>& sizes = {}) {
  Signature result{"scale", std::vector<Parameter>(std::max(types.size(), sizes.size()))};
  for (std::size_t i = 0; i < types.size(); ++i) (*result.parameters)[i].type = types[i];
  for (std::size_t i = 0; i < sizes.size(); ++i) (*result.parameters)[i].bytes = sizes[i];
  return result;
}

float memory[64];
Tensor gpu(DType dtype, const Shape& shape = {4}) {
  return Tensor::wrap(memory, shape, dtype, Device::cuda(0));
}

std::uint64_t packed(const std::string& type, const KernelArgument& argument,
                     std::size_t bytes = 0) {
  return pack_arguments(signature({type}, {bytes}), Device::cuda(0), {argument}).values[0];
}

std::string refusal(const Signature& wants, const std::vector<KernelArgument>& arguments) {
  try {
    pack_arguments(wants, Device::cuda(0), arguments);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

void expect_refused(const std::string& type, const KernelArgument& argument,
                    const std::string& words) {
  const std::string message = refusal(signature({"int", type}), {KernelArgument(1), argument});
  EXPECT_NE(message.find("kernel scale, argument 2"), std::string::npos) << type << ": " << message;
  EXPECT_NE(message.find(words), std::string::npos) << type << ": " << message;
}

TEST(Arguments, TensorsPassTheirPointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  EXPECT_EQ(packed("float*", gpu(DType::f32), 8), address);
  EXPECT_EQ(packed("float const*", gpu(DType::f32)), address);
  EXPECT_EQ(packed("tilewright::bf16 const*", gpu(DType::bf16)), address);
  EXPECT_EQ(packed("__half*", gpu(DType::f16)), address);
  EXPECT_EQ(packed("unsigned char const*", gpu(DType::q8_0, {32})), address);
  EXPECT_EQ(packed("void*", gpu(DType::i64)), address);
  EXPECT_EQ(packed("long long*", gpu(DType::i64)), address);
  EXPECT_EQ(packed("", gpu(DType::f32), 8), address);
}

TEST(Arguments, WrongTensorsAreRefused) {
  expect_refused("float*", gpu(DType::f16), "got f16 [4] on cuda:0, wants float*");
  expect_refused("float const*", gpu(DType::i32), "wants float const*");
  expect_refused("double*", gpu(DType::f32), "wants double*");
  expect_refused("float", gpu(DType::f32), "wants a scalar float");
  expect_refused("float*", Tensor(), "undefined");
  expect_refused("float*", Tensor::wrap(memory, {4}, DType::f32, Device::cpu()),
                 "wants a tensor on cuda:0");
  expect_refused("float*", Tensor::wrap(memory, {4}, DType::f32, Device::cuda(1)),
                 "wants a tensor on cuda:0");
  expect_refused("float*", gpu(DType::f32, {2, 3}).transpose(0, 1), "contiguous");
}

TEST(Arguments, ScalarsBecomeWhatTheKernelTakes) {
  float number = 0;
  const std::uint64_t bits = packed("float", 2.5f);
  std::memcpy(&number, &bits, sizeof(number));
  EXPECT_EQ(number, 2.5f);
  const std::uint64_t from_double = packed("float", 0.5);
  std::memcpy(&number, &from_double, sizeof(number));
  EXPECT_EQ(number, 0.5f);
  EXPECT_EQ(packed("long", std::int32_t(-3)), std::uint64_t(-3));
  EXPECT_EQ(packed("int", std::int64_t(7)), 7u);
  EXPECT_EQ(packed("unsigned char", 255), 255u);
  EXPECT_EQ(packed("bool", true), 1u);
  EXPECT_EQ(packed("", 5, 4), 5u);
}

TEST(Arguments, WrongScalarsAreRefused) {
  expect_refused("float", 0.1, "got double 0.1, wants float, which cannot hold it exactly");
  expect_refused("float", (1 << 24) + 1, "cannot hold it exactly");
  expect_refused("int", 2.0f, "got float 2, wants int");
  expect_refused("int", std::int64_t(1) << 40, "cannot hold it exactly");
  expect_refused("unsigned int", -1, "got int -1, wants unsigned int");
  expect_refused("unsigned char", 256, "wants unsigned char");
  expect_refused("bool", 1, "got int 1, wants bool");
  expect_refused("int", true, "got bool 1, wants int");
  expect_refused("float*", 3, "got int 3, wants float*");
  expect_refused("Pair<int, float>", 3, "wants Pair<int, float>");
}

TEST(Arguments, TheCountIsChecked) {
  const Signature wants = signature({"float*", "float const*", "float", "int"});
  EXPECT_EQ(refusal(wants, {gpu(DType::f32), gpu(DType::f32), 2.0f}),
            "kernel scale: got 3 arguments, wants 4 (float*, float const*, float, int)");
}

TEST(Arguments, AnExternCKernelIsCheckedBySize) {
  const Signature wants = signature({}, {8, 4});
  EXPECT_EQ(refusal(wants, {gpu(DType::f16), 1}), "");
  EXPECT_NE(refusal(wants, {gpu(DType::f16), std::int64_t(1)}).find("a value of 4 bytes"),
            std::string::npos);
  EXPECT_NE(refusal(wants, {gpu(DType::f16), gpu(DType::f16)}).find("4 bytes"), std::string::npos);
  EXPECT_EQ(refusal(Signature{"any", std::nullopt}, {1, 2.0}), "");
}

}  // namespace
}  // namespace tilewright::jit
