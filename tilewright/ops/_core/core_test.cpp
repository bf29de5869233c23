// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tilewright/device/core/types.h"
#include "tilewright/harness/samples.h"
#include "tilewright/ops/_core/pointwise.h"
#include "tilewright/ops/_core/rows.h"

namespace tilewright {
namespace {

TEST(Rows, HalfConversionsAreExact) {
  // Every half value, at every offset from a vector's start.
  std::vector<half> all(65536 + 8);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bits = std::uint16_t(i);
  std::vector<float> wide(all.size());
  for (const std::size_t start : {0, 1, 7}) {
    const auto count = std::int64_t(all.size() - start);
    read_floats(DType::f16, all.data() + start, wide.data(), count);
    std::vector<half> back(all.size());
    write_floats(DType::f16, wide.data(), back.data(), count);
    for (std::int64_t i = 0; i < count; ++i) {
      const float expected = to_float(all[std::size_t(i) + start]);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(wide[std::size_t(i)]));
        ASSERT_TRUE(std::isnan(to_float(back[std::size_t(i)])));
      } else {
        ASSERT_EQ(wide[std::size_t(i)], expected) << i;
        ASSERT_EQ(back[std::size_t(i)].bits, all[std::size_t(i) + start].bits) << i;
      }
    }
  }
}

TEST(Rows, RoundingIsThatOfTheKernels) {
  auto values = random_floats(10007, 71, -70000, 70000);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float special : {0.0f, -0.0f, infinity, -infinity, 65519.99f, 65520.0f, 6e-8f, 3e-8f,
                              2.9802322e-8f, 1e-30f, 3.39e38f, 1.00390625f, 1.01171875f}) {
    values.push_back(special);
  }
  const auto count = std::int64_t(values.size());
  std::vector<half> halves(values.size());
  std::vector<bf16> brains(values.size());
  write_floats(DType::f16, values.data(), halves.data(), count);
  write_floats(DType::bf16, values.data(), brains.data(), count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(halves[i].bits, from_float<half>(values[i]).bits) << values[i];
    ASSERT_EQ(brains[i].bits, from_float<bf16>(values[i]).bits) << values[i];
  }
}

TEST(PointwiseLayout, MergesAxesThatAreWalkedAsOne) {
  const Stream stream(Device::cpu());
  const Tensor x = Tensor::zeros({4, 6, 8}, DType::f32, stream);
  EXPECT_EQ(pointwise_layout("test", x, x).rank, 1);
  EXPECT_EQ(pointwise_layout("test", x, x).count, 192);
  const Tensor y = Tensor::zeros({4, 6, 16}, DType::f32, stream).slice(2, 0, 8);
  const auto gaps = pointwise_layout("test", y, x);
  EXPECT_EQ(gaps.rank, 2);
  EXPECT_EQ(gaps.extents[0], 24);
  EXPECT_EQ(gaps.strides[0][0], 16);
  EXPECT_EQ(gaps.strides[1][0], 8);
  const Tensor row = Tensor::zeros({8}, DType::f32, stream);
  const auto spread = pointwise_layout("test", x, row);
  EXPECT_EQ(spread.rank, 2);
  EXPECT_EQ(spread.strides[1][0], 0);
  EXPECT_EQ(spread.strides[1][1], 1);
}

}  // namespace
}  // namespace tilewright
