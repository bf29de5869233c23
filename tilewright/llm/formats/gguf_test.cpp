// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/formats/gguf.h"

#include <gtest/gtest.h>

#include "tilewright/base/error.h"
#include "tilewright/llm/formats/gguf_writer_internal.h"

namespace tilewright {
namespace {

using fixtures::GgufWriter;

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Copied to a block of its own, so that a sanitizer sees a read past the end.
GgufFile parse(const std::string& text) {
  const auto copy =
      std::make_shared<std::vector<std::byte>>(as_bytes(text).begin(), as_bytes(text).end());
  return GgufFile(*copy, copy, "test.gguf");
}

template <class Kind>
void expect_error(const GgufWriter& file, const std::string& part) {
  try {
    parse(file.bytes());
    ADD_FAILURE() << "accepted, expected: " << part;
  } catch (const Kind& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).rfind("test.gguf", 0), 0U) << error.what();
  }
}

GgufWriter small() {
  GgufWriter file;
  file.text("name", "value").integer("count", 7).real("ratio", 0.5F);
  file.texts("words", {"one", "", "three"}).integers("numbers", {-1, 2});
  file.number("flag", GgufType::kBool, std::uint8_t{1});
  file.number("big", GgufType::kU64, ~std::uint64_t{0});
  file.tensor("matrix", {2, 32}, 8, 68).tensor("vector", {3}, 0, 12);
  return file;
}

TEST(Gguf, ReadsMetadata) {
  for (const std::uint32_t version : {2U, 3U}) {
    GgufWriter writer = small();
    writer.version = version;
    const GgufFile file = parse(writer.bytes());
    EXPECT_EQ(file.version(), version);
    EXPECT_EQ(file.get_string("name"), "value");
    EXPECT_EQ(file.get_int("count"), 7);
    EXPECT_EQ(file.get_int("absent", -3), -3);
    EXPECT_EQ(file.get_float("ratio"), 0.5);
    EXPECT_EQ(file.get_float("count"), 7.0);
    EXPECT_TRUE(file.get_bool("flag", false));
    EXPECT_EQ(file.get_strings("words"), (std::vector<std::string_view>{"one", "", "three"}));
    EXPECT_EQ(file.get_ints("numbers"), (std::vector<std::int64_t>{-1, 2}));
  }
}

TEST(Gguf, DescribesTensors) {
  const GgufFile file = parse(small().bytes());
  EXPECT_EQ(file.names(), (std::vector<std::string>{"matrix", "vector"}));
  const TensorInfo& matrix = file.get("matrix", Shape{2, 32});
  EXPECT_EQ(matrix.dtype, DType::q8_0);
  EXPECT_EQ(matrix.data.size(), 68U);
  EXPECT_EQ(matrix.data[1], std::byte{7});
  const TensorInfo& vector = file.get("vector");
  EXPECT_EQ(vector.shape, Shape{3});
  EXPECT_EQ(vector.data[1], std::byte{8});
  EXPECT_EQ(file.find("absent"), nullptr);
  EXPECT_THROW(file.get("absent"), NotFound);
  EXPECT_THROW(file.get("vector", Shape{4}), FormatError);
}

TEST(Gguf, GettersNameTheKey) {
  const GgufFile file = parse(small().bytes());
  EXPECT_THROW(file.get_int("absent"), NotFound);
  EXPECT_THROW(file.get_int("name"), FormatError);
  EXPECT_THROW(file.get_int("big"), FormatError);
  EXPECT_THROW(file.get_string("count"), FormatError);
  EXPECT_THROW(file.get_bool("count", true), FormatError);
  EXPECT_THROW(file.get_strings("numbers"), FormatError);
  EXPECT_THROW(file.get_ints("words"), FormatError);
  try {
    file.get_float("words");
  } catch (const FormatError& error) {
    EXPECT_STREQ(error.what(), "test.gguf: key words is an array, wants a number");
  }
}

TEST(Gguf, TruncatedAnywhereIsAnError) {
  const std::string whole = small().bytes();
  const std::size_t data = (small().header().size() + 31) / 32 * 32;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // The padding after the last tensor belongs to none.
    if (size >= data + 96 + 12) {
      EXPECT_NO_THROW(parse(whole.substr(0, size))) << size;
    } else {
      EXPECT_THROW(parse(whole.substr(0, size)), FormatError) << size;
    }
  }
}

// Every byte of the header turned to extremes: an error or another file, never a crash.
TEST(Gguf, DamagedBytesNeverCrash) {
  const std::string whole = fixtures::tiny_llama().bytes();
  const std::size_t header = fixtures::tiny_llama().header().size();
  int refused = 0;
  for (std::size_t at = 0; at < header; ++at) {
    for (const char byte : {'\x00', '\x01', '\x7f', '\x80', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      try {
        parse(damaged);
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(Gguf, NotAModel) {
  EXPECT_THROW(parse(""), FormatError);
  EXPECT_THROW(parse("PK\x03\x04 a zip file of some length"), FormatError);
  GgufWriter file;
  for (const std::uint32_t version : {1U, 4U, 0x03000000U}) {
    file.version = version;
    expect_error<Unsupported>(file, version > 4 ? "big-endian" : "version");
  }
}

TEST(Gguf, WildCountsAreRefused) {
  for (const std::uint64_t extra : {std::uint64_t{1} << 32, ~std::uint64_t{0} - 8}) {
    GgufWriter pairs = small();
    pairs.extra_pairs = extra;
    expect_error<FormatError>(pairs, "metadata count");
    GgufWriter tensors = small();
    tensors.extra_tensors = extra;
    expect_error<FormatError>(tensors, "tensor count");
    std::string array;
    GgufWriter::put(array, std::uint32_t(GgufType::kU64));
    GgufWriter::put(array, extra);
    expect_error<FormatError>(small().raw("wild", GgufType::kArray, array), "wild");
    std::string text;
    GgufWriter::put(text, extra);
    expect_error<FormatError>(small().raw("long", GgufType::kString, text), "long");
  }
}

TEST(Gguf, WildTensorsAreRefused) {
  const std::uint64_t huge = std::uint64_t{1} << 40;
  expect_error<FormatError>(GgufWriter().tensor("t", {huge, huge}, 0, 4), "tensor t");
  expect_error<FormatError>(GgufWriter().tensor("t", {~std::uint64_t{0}}, 0, 4), "dimension 0");
  expect_error<FormatError>(GgufWriter().tensor("t", {1, 1, 1, 1, 1}, 0, 4), "5 dimensions");
  expect_error<FormatError>(GgufWriter().tensor("t", {4, 31}, 2, 72), "whole q4_0 blocks");
  expect_error<FormatError>(GgufWriter().tensor_at("t", {1}, 0, 1, 4), "alignment");
  expect_error<FormatError>(GgufWriter().tensor_at("t", {1}, 0, 64, 4), "truncated: tensor t");
  expect_error<FormatError>(GgufWriter().tensor_at("t", {1}, 0, ~std::uint64_t{31}, 4), "tensor t");
  expect_error<FormatError>(GgufWriter().tensor("t", {1}, 0, 4).tensor("t", {1}, 0, 4), "twice");
}

TEST(Gguf, UnknownQuantisationIsNamed) {
  expect_error<Unsupported>(GgufWriter().tensor("t", {256}, 17, 100), "IQ2_XS (type 17)");
  expect_error<Unsupported>(GgufWriter().tensor("t", {256}, 999, 100), "type 999");
}

TEST(Gguf, MetadataIsChecked) {
  expect_error<FormatError>(GgufWriter().integer("k", 1).integer("k", 2), "appears twice");
  expect_error<FormatError>(GgufWriter().raw("k", GgufType(13), "12345678"), "type 13");
  expect_error<FormatError>(GgufWriter().integer("general.alignment", 0), "alignment");
  expect_error<FormatError>(GgufWriter().integer("general.alignment", 24), "power of two");
  std::string nested;
  GgufWriter::put(nested, std::uint32_t(GgufType::kArray));
  GgufWriter::put(nested, std::uint64_t{1});
  expect_error<Unsupported>(GgufWriter().raw("k", GgufType::kArray, nested + std::string(20, '\0')),
                            "arrays of arrays");
}

}  // namespace
}  // namespace tilewright
