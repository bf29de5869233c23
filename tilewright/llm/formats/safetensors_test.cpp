// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/formats/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tilewright/base/error.h"
#include "tilewright/base/files.h"
#include "tilewright/llm/formats/test_folder_internal.h"

namespace tilewright {
namespace {

using fixtures::safetensors;
using fixtures::TestFolder;

std::vector<TensorInfo> parse(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes.data(), bytes.size())), "test");
}

void expect_refused(const std::string& header, std::size_t data, const std::string& part) {
  const std::string bytes = safetensors(header, data);
  try {
    parse(bytes);
    ADD_FAILURE() << "accepted: " << header;
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::kFormat || error.kind() == ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

constexpr const char* kTwo =
    R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
    R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]}})";

TEST(Safetensors, DescribesTensors) {
  const std::string bytes = safetensors(kTwo, 32);
  const auto tensors = parse(bytes);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "a");
  EXPECT_EQ(tensors[0].shape, (Shape{2, 3}));
  EXPECT_EQ(tensors[1].dtype, DType::bf16);
  EXPECT_EQ(tensors[1].data[0], std::byte{24});
}

TEST(Safetensors, TruncatedAnywhereIsAnError) {
  const std::string bytes = safetensors(kTwo, 32);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse(bytes.substr(0, size)), FormatError) << size;
  }
}

TEST(Safetensors, BadHeadersAreRefused) {
  const auto one = [](const std::string& rest) { return R"({"a":{"dtype":"F32",)" + rest + "}}"; };
  expect_refused("[]", 0, "does not start with '{'");
  expect_refused("{", 0, "not valid JSON");
  expect_refused(R"({"a":3})", 0, "wants an object");
  expect_refused(R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "dtype is missing");
  expect_refused(one(R"("shape":[1])"), 4, "data_offsets is missing");
  expect_refused(one(R"("shape":[1],"data_offsets":[0,4,8])"), 8, "two numbers");
  expect_refused(one(R"("shape":[1],"data_offsets":[4,0])"), 4, "data_offsets are 4 and 0");
  expect_refused(one(R"("shape":[1],"data_offsets":[0,18446744073709551615])"), 4, "out of range");
  expect_refused(one(R"("shape":[1],"data_offsets":[0,8])"), 8, "wants 4 bytes");
  expect_refused(one(R"("shape":[4294967296,4294967296,16],"data_offsets":[0,4])"), 4, "tensor a");
  expect_refused(one(R"("shape":[-1],"data_offsets":[0,4])"), 4, "extent");
  expect_refused(one(R"("shape":[1.5],"data_offsets":[0,4])"), 4, "wants an integer");
  expect_refused(one(R"("shape":[1],"data_offsets":[4,8])"), 8, "hole");
  expect_refused(one(R"("shape":[1],"data_offsets":[0,4])"), 8, "belong to none");
  expect_refused(R"({"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}})", 4, "dtype F99");
}

TEST(Safetensors, WildHeaderLengthIsRefused) {
  std::string bytes = safetensors(kTwo, 32);
  for (const std::uint64_t length :
       {~std::uint64_t{0}, std::uint64_t{1} << 40, std::uint64_t{99999}}) {
    std::memcpy(bytes.data(), &length, sizeof(length));
    EXPECT_THROW(parse(bytes), FormatError);
  }
}

const NameMap kSame = [](std::string_view name) { return CanonicalName{std::string(name), false}; };
constexpr const char* kA = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
constexpr const char* kB = R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";

TEST(Safetensors, ReadsShards) {
  TestFolder folder;
  folder.write("x.safetensors", safetensors(kA, 4));
  folder.write("y.safetensors", safetensors(kB, 4));
  folder.write("model.safetensors.index.json",
               R"({"weight_map":{"a":"x.safetensors","b":"y.safetensors"}})");
  const SafetensorsFolder weights(folder.path(), kSame);
  EXPECT_EQ(weights.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(weights.get("b").data.size(), 4U);
}

TEST(Safetensors, ShardsMustKeepTheIndexsPromise) {
  TestFolder folder;
  EXPECT_THROW(SafetensorsFolder(folder.path(), kSame), NotFound);
  folder.write("x.safetensors", safetensors(kA, 4));
  const auto with_index = [&](const char* map) {
    folder.write("model.safetensors.index.json", std::string(R"({"weight_map":)") + map + "}");
    SafetensorsFolder(folder.path(), kSame);
  };
  EXPECT_THROW(with_index(R"({"b":"x.safetensors"})"), NotFound);
  EXPECT_THROW(with_index(R"({"a":"gone.safetensors"})"), NotFound);
  EXPECT_THROW(with_index(R"({"a":"../x.safetensors"})"), FormatError);
  EXPECT_THROW(with_index(R"({"a":3})"), FormatError);
  EXPECT_THROW(with_index("{}"), FormatError);
  EXPECT_NO_THROW(with_index(R"({"a":"x.safetensors"})"));
}

}  // namespace
}  // namespace tilewright
