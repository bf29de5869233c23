// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/argmax/argmax.h"

#include <gtest/gtest.h>

#include <limits>

#include "tilewright/harness/failure.h"
#include "tilewright/harness/samples.h"
#include "tilewright/ops/argmax/argmax_cases.h"
#include "tilewright/ops/argmax/argmax_ref.h"

namespace tilewright {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// 16-bit dtypes make ties on their own; whole numbers make them in float32 too.
std::vector<float> values_with_ties(std::int64_t count) {
  auto values = random_floats(count, 21, -40, 40);
  for (float& value : values) value = float(int(value));
  return values;
}

TEST(Argmax, MatchesTheReference) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    for (const RowsCase& one : argmax_cases()) {
      SCOPED_TRACE(one.describe() + " on " + to_string(device));
      const auto values = values_with_ties(one.rows * one.cols);
      const Guarded x({one.rows, one.cols}, one.in, one.layout, values, stream);
      const Guarded indices({one.rows}, DType::i32, Layout::kContiguous, stream);
      argmax_into(indices.tensor(), x.tensor(), stream);
      EXPECT_EQ(indices.values(stream), ref::argmax(rounded(values, one.in), one.rows, one.cols));
      EXPECT_EQ(indices.damaged_bytes(stream), 0);
    }
  }
}

TEST(Argmax, NanAndInfinities) {
  const std::vector<std::vector<float>> rows = {{-kInfinity, -kInfinity, -kInfinity, -kInfinity},
                                                {1, kInfinity, kInfinity, 0},
                                                {1, kNan, kInfinity, kNan},
                                                {kNan, 1, 2, 3},
                                                {-kInfinity, -3e38f, -kInfinity, -3e38f},
                                                {-0.0f, 0.0f, -0.0f, 0.0f}};
  const std::vector<double> expected = {0, 1, 1, 0, 1, 0};
  std::vector<float> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const Tensor x = tensor_of(values, {6, 4}, DType::f32, stream);
    EXPECT_EQ(values_of(argmax(x, stream), stream), expected) << device;
  }
}

TEST(Argmax, EveryPlaceIsFound) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    constexpr std::int64_t kCols = 70;
    std::vector<float> values(kCols * kCols, -1);
    std::vector<double> expected;
    for (std::int64_t i = 0; i < kCols; ++i) {
      values[std::size_t(i * kCols + i)] = i % 2 == 0 ? 5 : kNan;
      expected.push_back(double(i));
    }
    const Tensor x = tensor_of(values, {kCols, kCols}, DType::f32, stream);
    EXPECT_EQ(values_of(argmax(x, stream), stream), expected) << device;
  }
}

TEST(Argmax, RefusesWhatItDoesNotTake) {
  const Stream stream(Device::cpu());
  const std::string message =
      failure_of([&] { argmax(Tensor::zeros({2, 0}, DType::f32, stream), stream); });
  EXPECT_NE(message.find("argmax: x: got f32 [2, 0] on cpu; takes 1 to 2147483647 columns"),
            std::string::npos)
      << message;
  EXPECT_NE(failure_of([&] {
              argmax_into(Tensor::zeros({2}, DType::i64, stream),
                          Tensor::zeros({2, 3}, DType::f32, stream), stream);
            }).find("argmax: indices: got i64 [2]"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright
