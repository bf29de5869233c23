// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

std::vector<float> wave(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(std::sin(i * 0.37f) * (1 + i % 5) + 0.25f);
  return values;
}

std::vector<float> round_trip(DType dtype, const std::vector<float>& values) {
  std::vector<unsigned char> row(bytes_of(dtype, static_cast<std::int64_t>(values.size())) + 1);
  std::vector<float> back(values.size());
  // One byte off: rows in a file need not be aligned.
  quantize_row(dtype, values.data(), row.data() + 1, static_cast<std::int64_t>(values.size()));
  dequantize_row(dtype, row.data() + 1, back.data(), static_cast<std::int64_t>(values.size()));
  return back;
}

// Half a step of each format, for values within [-4.75, 5.25], plus the rounding of the scales.
void expect_round_trip(DType dtype, float bound) {
  const std::vector<float> values = wave(512);
  const std::vector<float> back = round_trip(dtype, values);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(back[i], values[i], bound) << name(dtype) << " element " << i;
}

TEST(Blocks, RoundTripStaysWithinHalfAStep) {
  expect_round_trip(DType::f32, 0);
  expect_round_trip(DType::f16, 5.25f / 2048);
  expect_round_trip(DType::bf16, 5.25f / 256);
  expect_round_trip(DType::q8_0, 5.25f / 127 * 0.51f);
  expect_round_trip(DType::q6_k, 5.25f / 32 * 1.01f);  // clamps the side opposite to the extreme
  expect_round_trip(DType::q4_1, 10.5f / 15 * 0.51f);
  expect_round_trip(DType::q4_0, 5.25f / 8 * 1.01f);
}

TEST(Blocks, StoredBytesMeanWhatTheFormatSays) {
  unsigned char q4_1[20] = {0x00, 0x38, 0x00, 0xbc};  // d 0.5, m -1
  q4_1[4] = 0x2f;                                     // element 0: 15, element 16: 2
  float out[32];
  dequantize_row(DType::q4_1, q4_1, out, 32);
  EXPECT_EQ(out[0], 6.5f);
  EXPECT_EQ(out[16], 0.0f);
  EXPECT_EQ(out[1], -1.0f);
  dequantize_row(DType::q4_0, q4_1 + 2, out, 32);  // d -1, nibbles from byte 4
  EXPECT_EQ(out[0], -7.0f);
  EXPECT_EQ(out[16], 6.0f);
  unsigned char q8_0[34] = {0x00, 0x40};  // d 2
  q8_0[2 + 31] = 0x80;
  dequantize_row(DType::q8_0, q8_0, out, 32);
  EXPECT_EQ(out[31], -256.0f);
}

TEST(Blocks, Q6kPlacesEveryElement) {
  // Element 128 + 96 + 5: low nibble in the upper half of byte 64 + 32 + 5, high bits 6 and 7 of
  // byte 128 + 32 + 5, scale 14.
  unsigned char block[210] = {};
  block[101] = 0xb0;
  block[165] = 0xc0;
  block[192 + 14] = 3;
  block[209] = 0x3c;  // d 1
  float out[256];
  dequantize_row(DType::q6_k, block, out, 256);
  EXPECT_EQ(out[229], 3.0f * (0x3b - 32));
  EXPECT_EQ(out[228], 3.0f * -32);
  EXPECT_EQ(out[0], 0.0f);
}

TEST(Blocks, RefusesWhatItCannotRead) {
  float out[32] = {};
  EXPECT_THROW(dequantize_row(DType::q5_0, out, out, 32), Unsupported);
  EXPECT_THROW(dequantize_row(DType::q8_0, out, out, 31), InvalidArgument);
  EXPECT_FALSE(is_row_type(DType::q4_k));
  EXPECT_TRUE(is_row_type(DType::q6_k));
}

}  // namespace
}  // namespace tilewright
