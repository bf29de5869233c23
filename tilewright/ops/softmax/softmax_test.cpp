// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/softmax/softmax.h"

#include <cmath>
#include <limits>

#include "tilewright/harness/failure.h"
#include "tilewright/harness/row_op_internal.h"
#include "tilewright/ops/softmax/softmax_cases.h"
#include "tilewright/ops/softmax/softmax_ref.h"

namespace tilewright {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Softmax, MatchesTheReference) {
  check_rows(
      softmax_cases(), [](RowsRun& r) { softmax_into(r.y.tensor(), r.x.tensor(), r.stream); },
      [](RowsRun& r) { return ref::softmax(r.input, r.one.rows, r.one.cols); },
      [](const RowsCase& one) {
        // The sum's relative error enters every element.
        Tolerance bounds = tolerance(one.out);
        bounds.relative +=
            tolerance(DType::f32, one.cols).absolute / std::sqrt(double(one.cols + 1));
        return bounds;
      });
}

// x as given, on every device; y must have these values (within float32 rounding).
void expect_softmax(const std::vector<float>& x, const std::vector<double>& expected) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const auto cols = std::int64_t(x.size());
    const Tensor y = softmax(tensor_of(x, {1, cols}, DType::f32, stream), stream);
    const auto result = compare(values_of(y, stream), expected, {1, cols}, tolerance(DType::f32));
    EXPECT_TRUE(result.ok) << device << ": " << result.message;
  }
}

TEST(Softmax, RowOfMinusInfinityGivesZero) {
  expect_softmax(std::vector<float>(37, -kInfinity), std::vector<double>(37, 0.0));
}

TEST(Softmax, MinusInfinityTakesNoWeight) {
  expect_softmax({-kInfinity, 0, 0, -kInfinity}, {0, 0.5, 0.5, 0});
}

TEST(Softmax, NanMakesItsRowNan) {
  for (const std::size_t at : {0, 5, 18}) {
    std::vector<float> x(19, 0.5f);
    x[at] = kNan;
    expect_softmax(x, std::vector<double>(19, kNan));
  }
}

TEST(Softmax, LargeValuesDoNotOverflow) { expect_softmax({3e38f, 3e38f, -3e38f}, {0.5, 0.5, 0}); }

TEST(Softmax, RowsDoNotDependOnTheBatch) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const auto values = random_floats(7 * 1111, 3, -9, 9);
    const Tensor x = tensor_of(values, {7, 1111}, DType::f32, stream);
    const auto all = values_of(softmax(x, stream), stream);
    const auto one = values_of(softmax(x.slice(0, 4, 5), stream), stream);
    for (std::size_t c = 0; c < one.size(); ++c) ASSERT_EQ(one[c], all[4 * 1111 + c]) << device;
  }
}

TEST(Softmax, WorksInPlace) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const auto values = random_floats(3 * 515, 5, -3, 3);
    const Tensor x = tensor_of(values, {3, 515}, DType::f32, stream);
    const auto apart = values_of(softmax(x, stream), stream);
    softmax_into(x, x, stream);
    EXPECT_EQ(values_of(x, stream), apart) << device;
  }
}

TEST(Softmax, RefusesWhatItDoesNotTake) {
  const Stream stream(Device::cpu());
  const Tensor x = Tensor::zeros({2, 4}, DType::f32, stream);
  const auto refuse = [&](const Tensor& y, const Tensor& in, const char* part) {
    const std::string message = failure_of([&] { softmax_into(y, in, stream); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refuse(x, Tensor::zeros({2, 4}, DType::i32, stream),
         "softmax: x: got i32 [2, 4] on cpu; takes dtype f32, f16, bf16");
  refuse(Tensor::zeros({2, 5}, DType::f32, stream), x,
         "softmax: y: got f32 [2, 5] on cpu; takes shape [2, 4]");
  refuse(x, Tensor::zeros({8}, DType::f32, stream), "takes 2 axes");
  refuse(x, x.transpose(0, 1), "takes a last axis of stride 1");
  refuse(x, Tensor(), "softmax: x: got an undefined tensor");
  refuse(Tensor::zeros({1, 4}, DType::f32, stream).broadcast_to({2, 4}), x, "axis 0 is broadcast");
}

}  // namespace
}  // namespace tilewright
