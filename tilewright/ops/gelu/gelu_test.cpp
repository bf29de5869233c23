// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/gelu/gelu.h"

#include <cmath>
#include <limits>

#include "tilewright/harness/failure.h"
#include "tilewright/harness/row_op_internal.h"
#include "tilewright/ops/gelu/gelu_cases.h"
#include "tilewright/ops/gelu/gelu_ref.h"

namespace tilewright {
namespace {

class Gelu : public testing::TestWithParam<GeluForm> {};

// In the negative tail the exponent, up to 50, is rounded to 24 bits, which scales the result by
// up to 50 * 2^-24; there are results under 1e-7 only.
Tolerance bounds_of(DType out) {
  Tolerance bounds = tolerance(out);
  bounds.relative += 4 * 0x1p-23;
  bounds.absolute += 4e-10;
  return bounds;
}

TEST_P(Gelu, MatchesTheReference) {
  check_rows(
      gelu_cases(), [](RowsRun& r) { gelu_into(r.y.tensor(), r.x.tensor(), GetParam(), r.stream); },
      [](RowsRun& r) {
        std::vector<double> y(r.input.size());
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = ref::gelu(r.input[i], GetParam());
        return y;
      },
      [](const RowsCase& one) { return bounds_of(one.out); }, 9);
}

TEST_P(Gelu, ExtremeValues) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {-kInfinity, -3e38f, -1e10f, -20, 0, 20, 3e38f, kInfinity, kNan};
  const std::vector<double> expected = {0, 0, 0, 0, 0, 20, double(3e38f), double(kInfinity), kNan};
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const Tensor y = gelu(tensor_of(x, {9}, DType::f32, stream), GetParam(), stream);
    const auto result = compare(values_of(y, stream), expected, {9}, bounds_of(DType::f32));
    EXPECT_TRUE(result.ok) << device << ": " << result.message;
  }
}

TEST_P(Gelu, AnyStrides) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const auto values = random_floats(6 * 35 * 11, 6, -4, 4);
    const Tensor x = tensor_of(values, {6, 35, 11}, DType::f32, stream);
    const Tensor turned = x.permute({2, 0, 1}).slice(0, 0, 11, 2);
    const Tensor y = gelu(turned, GetParam(), stream);
    auto expected = values_of(turned, stream);
    for (double& value : expected) value = ref::gelu(value, GetParam());
    const auto result = compare(values_of(y, stream), expected, y.shape(), bounds_of(DType::f32));
    EXPECT_TRUE(result.ok) << device << ": " << result.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, Gelu, testing::Values(GeluForm::kErf, GeluForm::kTanh),
                         [](const auto& form) {
                           return form.param == GeluForm::kErf ? "erf" : "tanh";
                         });

TEST(GeluArguments, RefusesWhatItDoesNotTake) {
  const Stream stream(Device::cpu());
  const std::string message =
      failure_of([&] { gelu(Tensor::zeros({2, 4}, DType::i32, stream), GeluForm::kErf, stream); });
  EXPECT_NE(message.find("gelu: x: got i32 [2, 4] on cpu; takes dtype f32, f16, bf16"),
            std::string::npos)
      << message;
}

}  // namespace
}  // namespace tilewright
