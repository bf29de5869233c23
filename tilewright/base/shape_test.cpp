// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/shape.h"

#include <gtest/gtest.h>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

TEST(Shape, CountsAndStrides) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Shape{4, 4, 1}));
}

// Files name such shapes: no arithmetic on them may wrap (the sanitizer build looks on).
TEST(Shape, ExtentsThatOverflowAreRefusedOrEmpty) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_THROW(element_count({huge, huge}), InvalidArgument);
  EXPECT_THROW(element_count({2, -1}), InvalidArgument);
  EXPECT_EQ(element_count({huge, huge, 0}), 0);
  EXPECT_EQ(contiguous_strides({2, huge, huge})[-1], 1);
  EXPECT_EQ(contiguous_strides({2, huge, huge})[0], INT64_MAX);
}

TEST(Shape, AxesCountFromEitherEnd) {
  const Shape shape{5, 6};
  EXPECT_EQ(shape[-1], 6);
  EXPECT_THROW(shape[2], InvalidArgument);
  EXPECT_THROW(shape[-3], InvalidArgument);
}

}  // namespace
}  // namespace tilewright
