// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/layer_norm/layer_norm.h"

#include <cmath>
#include <limits>

#include "tilewright/harness/failure.h"
#include "tilewright/harness/row_op_internal.h"
#include "tilewright/ops/layer_norm/layer_norm_cases.h"
#include "tilewright/ops/layer_norm/layer_norm_ref.h"

namespace tilewright {
namespace {

constexpr float kEps = 1e-5f;

// Values reach 4 and the deviation is about 2.3, weights reach 2: the mean's error shows as an
// absolute one of a few units, the deviation's as a relative one.
Tolerance bounds_of(const RowsCase& one) {
  Tolerance bounds = tolerance(one.out, one.cols, 1);
  bounds.relative += 6 * 0x1p-24 * std::sqrt(double(one.cols));
  bounds.absolute += 8 * 0x1p-23;
  // Two values that nearly coincide are divided by little more than the root of eps.
  if (one.cols <= 2) bounds.absolute += 4 * 0x1p-23 / std::sqrt(double(kEps));
  return bounds;
}

std::vector<float> weights(std::int64_t cols) { return random_floats(cols, 98, 0.25f, 2); }
std::vector<float> biases(std::int64_t cols) { return random_floats(cols, 97, -1, 1); }

void check_all(DType weight_type, DType bias_type, bool with_bias) {
  check_rows(
      layer_norm_cases(),
      [&](RowsRun& r) {
        const std::int64_t cols = r.one.cols;
        const Tensor w = tensor_of(weights(cols), {cols}, weight_type, r.stream);
        const Tensor b = tensor_of(biases(cols), {cols}, bias_type, r.stream);
        layer_norm_into(r.y.tensor(), r.x.tensor(), w, with_bias ? b : Tensor(), kEps, r.stream);
      },
      [&](RowsRun& r) {
        const auto b = rounded(biases(r.one.cols), bias_type);
        return ref::layer_norm(r.input, rounded(weights(r.one.cols), weight_type),
                               with_bias ? b : std::vector<double>(), r.one.rows, r.one.cols, kEps);
      },
      bounds_of);
}

TEST(LayerNorm, MatchesTheReference) { check_all(DType::f32, DType::f32, true); }
TEST(LayerNorm, WorksWithoutBias) { check_all(DType::bf16, DType::f32, false); }
TEST(LayerNorm, TakesMixedWeights) { check_all(DType::f16, DType::bf16, true); }

TEST(LayerNorm, LargeMeanDoesNotCancel) {
  // In one pass, E[x^2] - E[x]^2 would lose all of a variance of 1/3 beside 10^8.
  for (const Device device : test_devices()) {
    const Stream stream(device);
    constexpr std::int64_t kCols = 1024;
    auto values = random_floats(kCols, 4);
    for (float& value : values) value += 10000;
    const Tensor x = tensor_of(values, {1, kCols}, DType::f32, stream);
    const Tensor w = tensor_of(std::vector<float>(kCols, 1), {kCols}, DType::f32, stream);
    const auto got = values_of(layer_norm(x, w, {}, kEps, stream), stream);
    const auto expected = ref::layer_norm(rounded(values, DType::f32),
                                          std::vector<double>(kCols, 1), {}, 1, kCols, kEps);
    // The mean, near 10^4, is off by up to 6 units in its last place, over a deviation of 0.58.
    const auto result = compare(got, expected, {1, kCols}, {1e-5, 6 * 0x1p-10 / 0.58});
    EXPECT_TRUE(result.ok) << device << ": " << result.message;
  }
}

TEST(LayerNorm, NanStaysInItsRow) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    auto values = random_floats(3 * 100, 3);
    values[150] = std::numeric_limits<float>::quiet_NaN();
    const Tensor x = tensor_of(values, {3, 100}, DType::f32, stream);
    const Tensor w = tensor_of(weights(100), {100}, DType::f32, stream);
    const auto y = values_of(layer_norm(x, w, w, kEps, stream), stream);
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(std::isnan(y[i]), i / 100 == 1) << device;
  }
}

TEST(LayerNorm, RefusesWhatItDoesNotTake) {
  const Stream stream(Device::cpu());
  const Tensor x = Tensor::zeros({2, 4}, DType::f32, stream);
  const Tensor w = Tensor::zeros({4}, DType::f32, stream);
  const auto refuse = [&](const Tensor& weight, const Tensor& bias, const char* part) {
    const std::string message =
        failure_of([&] { layer_norm_into(x, x, weight, bias, kEps, stream); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refuse(w, Tensor::zeros({3}, DType::f32, stream), "layer_norm: bias: got f32 [3] on cpu; takes");
  refuse(Tensor::zeros({4}, DType::i64, stream), w, "layer_norm: weight: got i64 [4]");
  refuse(Tensor::zeros({8}, DType::f32, stream).slice(0, 0, 8, 2), w, "a contiguous tensor");
}

}  // namespace
}  // namespace tilewright
