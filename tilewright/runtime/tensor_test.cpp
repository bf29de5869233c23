// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/tensor.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

const Stream& stream() {
  static const Stream cpu(Device::cpu());
  return cpu;
}

Tensor iota(const Shape& shape) {
  std::vector<float> values(std::size_t(element_count(shape)));
  std::iota(values.begin(), values.end(), 0.0f);
  return Tensor::from_host(values.data(), shape, DType::f32, stream());
}

// Elements in row-major order, read through strides one by one.
std::vector<float> elements(const Tensor& tensor) {
  if (tensor.numel() == 0) return {};
  if (tensor.rank() == 0) return {*tensor.data_as<float>()};
  std::vector<float> all;
  for (std::int64_t i = 0; i < tensor.size(0); ++i) {
    for (const float value : elements(tensor.select(0, i))) all.push_back(value);
  }
  return all;
}

std::vector<float> to_host(const Tensor& tensor) {
  std::vector<float> values(std::size_t(tensor.numel()));
  tensor.to_host(values.data(), stream());
  return values;
}

TEST(Tensor, DescribesItself) {
  EXPECT_EQ(iota({2, 3}).describe(), "f32 [2, 3] on cpu");
  EXPECT_EQ(iota({2, 3}).transpose(0, 1).describe(), "f32 [3, 2] strides [1, 3] on cpu");
  EXPECT_FALSE(Tensor().defined());
}

TEST(Tensor, SliceSelectTransposePermute) {
  const Tensor x = iota({2, 3, 4});
  EXPECT_EQ(elements(x.select(1, 2)), (std::vector<float>{8, 9, 10, 11, 20, 21, 22, 23}));
  EXPECT_EQ(elements(x.select(0, 1).slice(-1, 1, 4, 2)),
            (std::vector<float>{13, 15, 17, 19, 21, 23}));
  EXPECT_EQ(elements(iota({2, 3}).transpose(0, -1)), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(x.permute({2, 0, 1}).shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(elements(x.permute({2, 0, 1}).select(0, 3)),
            (std::vector<float>{3, 7, 11, 15, 19, 23}));
  EXPECT_EQ(x.slice(1, 3, 3).numel(), 0);
}

TEST(Tensor, BroadcastSqueezeReinterpret) {
  const Tensor row = iota({3});
  EXPECT_EQ(elements(row.broadcast_to({2, 3})), (std::vector<float>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(elements(row.unsqueeze(1).broadcast_to({3, 2})),
            (std::vector<float>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(row.unsqueeze(0).squeeze(0).shape(), row.shape());
  EXPECT_EQ(row.reinterpret(DType::i32).data_as<std::int32_t>()[1], 0x3f800000);
}

TEST(Tensor, ViewsSeeTheSameElements) {
  const Tensor x = iota({4, 6});
  EXPECT_EQ(elements(x.view({2, 2, 3, 2})), elements(x));
  EXPECT_EQ(x.view({-1, 8}).shape(), (Shape{3, 8}));
  // Rows cut short: the row axis still splits, and cannot be merged with the columns.
  const Tensor cut = x.slice(1, 0, 4);
  EXPECT_EQ(elements(cut.view({2, 2, 2, 2})), elements(cut));
  EXPECT_EQ(elements(cut.view({4, 1, 4, 1})), elements(cut));
  EXPECT_THROW(cut.view({16}), InvalidArgument);
  EXPECT_THROW(x.transpose(0, 1).view({24}), InvalidArgument);
  EXPECT_EQ(iota({0, 3}).view({7, 0}).shape(), (Shape{7, 0}));
}

TEST(Tensor, BadViewsNameTheTensor) {
  const Tensor x = iota({2, 3});
  const std::vector<std::function<void()>> bad{[&] { x.view({7}); },
                                               [&] { x.view({-1, -1}); },
                                               [&] { x.view({-1, 0}); },
                                               [&] { x.slice(1, 2, 5); },
                                               [&] { x.slice(1, 2, 1); },
                                               [&] { x.slice(1, 0, 2, 0); },
                                               [&] { x.select(2, 0); },
                                               [&] { x.select(0, 2); },
                                               [&] { x.permute({0, 0}); },
                                               [&] { x.permute({0}); },
                                               [&] { x.broadcast_to({3, 3}); },
                                               [&] { x.broadcast_to({3}); },
                                               [&] { x.squeeze(0); },
                                               [&] { x.unsqueeze(4); },
                                               [&] { x.transpose(0, 2); },
                                               [&] { x.reinterpret(DType::f16); }};
  for (std::size_t i = 0; i < bad.size(); ++i) EXPECT_THROW(bad[i](), InvalidArgument) << i;
}

TEST(Tensor, CopiesAnyStridesOnBothSides) {
  const Tensor x = iota({5, 6, 7});
  const std::vector<Tensor> sources{x,
                                    x.permute({2, 0, 1}),
                                    x.slice(2, 1, 6, 2),
                                    x.slice(0, 0, 5, 3),
                                    x.transpose(0, 2),
                                    x.select(1, 3),
                                    iota({7}).broadcast_to({4, 7}),
                                    iota({}).broadcast_to({3, 2})};
  for (const Tensor& source : sources) {
    EXPECT_EQ(to_host(source), elements(source)) << source.describe();
    EXPECT_EQ(elements(source.to(stream())), elements(source)) << source.describe();
    // A target whose last axis is every second column of a wider tensor.
    Shape wide = source.shape();
    wide[-1] *= 2;
    const Tensor target = Tensor::zeros(wide, DType::f32, stream()).slice(-1, 0, wide[-1], 2);
    copy(target, source, stream());
    EXPECT_EQ(elements(target), elements(source)) << source.describe();
  }
}

TEST(Tensor, CopyRefusesUnequalShapesAndDtypes) {
  EXPECT_THROW(copy(iota({2, 3}), iota({3, 2}), stream()), InvalidArgument);
  EXPECT_THROW(copy(iota({2}), Tensor::zeros({2}, DType::i32, stream()), stream()),
               InvalidArgument);
  EXPECT_THROW(copy(Tensor(), iota({2}), stream()), InvalidArgument);
}

TEST(Tensor, BlockTypesKeepTheirBlocksWhole) {
  const Tensor q = Tensor::zeros({4, 64}, DType::q8_0, stream());
  EXPECT_EQ(q.bytes(), 4u * 2 * 34);
  for (std::size_t i = 0; i < q.bytes(); ++i) q.data_as<std::uint8_t>()[i] = std::uint8_t(i);
  const Tensor right = q.slice(1, 32, 64).to(stream());
  EXPECT_EQ(right.data_as<std::uint8_t>()[34], std::uint8_t(3 * 34));
  EXPECT_EQ(q.slice(0, 2, 4).data_as<std::uint8_t>()[0], std::uint8_t(4 * 34));
  EXPECT_THROW(q.slice(1, 16, 48), InvalidArgument);
  EXPECT_THROW(q.transpose(0, 1), InvalidArgument);
  EXPECT_THROW(q.select(1, 0), InvalidArgument);
  EXPECT_THROW(q.view({64, 4}), InvalidArgument);
  EXPECT_THROW(Tensor::empty({4, 33}, DType::q8_0, stream()), InvalidArgument);
  EXPECT_EQ(q.view({2, 2, 64}).shape(), (Shape{2, 2, 64}));
}

TEST(Tensor, WrapChecksWhatItIsGiven) {
  float values[6] = {0, 1, 2, 3, 4, 5};
  const Tensor reversed = Tensor::wrap(values + 5, {6}, {-1}, DType::f32, Device::cpu());
  EXPECT_EQ(elements(reversed), (std::vector<float>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(to_host(reversed), elements(reversed));
  EXPECT_THROW(Tensor::wrap(nullptr, {2}, DType::f32, Device::cpu()), InvalidArgument);
  EXPECT_THROW(Tensor::wrap(values, {2}, {1, 1}, DType::f32, Device::cpu()), InvalidArgument);
  EXPECT_THROW(
      Tensor::wrap(values, {3, INT64_MAX / 2}, {INT64_MAX / 2, 1}, DType::f32, Device::cpu()),
      InvalidArgument);
  EXPECT_NO_THROW(Tensor::wrap(nullptr, {0, 4}, DType::f32, Device::cpu()));
}

}  // namespace
}  // namespace tilewright
