// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/row_config.h"

#include <gtest/gtest.h>

#include "tilewright/ops/_core/pointwise_launch.h"

namespace tilewright {
namespace {

TEST(RowConfig, HoldsTheRowOrReadsItAgain) {
  for (std::int64_t cols = 1; cols < 40000; cols += 7) {
    const RowConfig config = row_config(cols);
    const std::int64_t held = std::int64_t(config.lanes) * config.vecs * 8;
    EXPECT_TRUE(cols <= held || (config.vecs == 0 && cols > 16384)) << cols;
    EXPECT_LE(config.threads(), 1024);
    EXPECT_EQ(config.threads() % 32, 0);
  }
}

TEST(RowConfig, IsOneOfTheListed) {
  for (const std::int64_t cols : {1, 256, 257, 1024, 2048, 4096, 8192, 16384, 16385, 1 << 20}) {
    const RowConfig chosen = row_config(cols);
    int matches = 0;
    for (const RowConfig& config : kRowConfigs) {
      matches += config.lanes == chosen.lanes && config.vecs == chosen.vecs;
    }
    EXPECT_EQ(matches, 1) << cols;
  }
}

PointwiseLayout<2> layout_of(std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  PointwiseLayout<2> layout = {};
  layout.count = rows * cols;
  layout.rank = 2;
  layout.extents[0] = rows;
  layout.extents[1] = cols;
  for (int k = 0; k < 2; ++k) {
    layout.strides[k][0] = stride;
    layout.strides[k][1] = 1;
  }
  return layout;
}

TEST(Pointwise, VectorsNeedAlignedRowsOfWholeVectors) {
  alignas(16) static const char memory[64] = {};
  const void* const aligned[2] = {memory, memory};
  const void* const shifted[2] = {memory, memory + 2};
  EXPECT_TRUE(pointwise_vectors(layout_of(3, 64, 64), aligned));
  EXPECT_TRUE(pointwise_vectors(layout_of(3, 64, 128), aligned));
  EXPECT_FALSE(pointwise_vectors(layout_of(3, 64, 64), shifted));
  EXPECT_FALSE(pointwise_vectors(layout_of(3, 63, 64), aligned));
  EXPECT_FALSE(pointwise_vectors(layout_of(3, 64, 65), aligned));
  PointwiseLayout<2> turned = layout_of(64, 64, 64);
  turned.strides[1][1] = 64;
  EXPECT_FALSE(pointwise_vectors(turned, aligned));
  PointwiseLayout<2> flat = layout_of(1, 63, 1);
  flat.rank = 1;
  flat.extents[0] = 63;
  EXPECT_TRUE(pointwise_vectors(flat, aligned)) << "the last vector of one axis may be short";
}

TEST(KernelNames, GridsThatDoNotFitAreRefused) {
  EXPECT_EQ(row_of_blocks(2147483647, 32, "op").grid.x, 2147483647u);
  EXPECT_THROW(row_of_blocks(2147483648, 32, "op"), InvalidArgument);
  EXPECT_EQ(instance("k", DType::bf16, 4, true), "tilewright::k<tilewright::bf16, 4, true>");
}

}  // namespace
}  // namespace tilewright
