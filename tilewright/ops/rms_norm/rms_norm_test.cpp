// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/rms_norm/rms_norm.h"

#include <cmath>
#include <limits>

#include "tilewright/harness/failure.h"
#include "tilewright/harness/row_op_internal.h"
#include "tilewright/ops/rms_norm/rms_norm_cases.h"
#include "tilewright/ops/rms_norm/rms_norm_ref.h"

namespace tilewright {
namespace {

constexpr float kEps = 1e-5f;

// The mean square has a relative error of about 2^-24 * sqrt(cols), its root half of that.
Tolerance bounds_of(const RowsCase& one) {
  Tolerance bounds = tolerance(one.out);
  bounds.relative += 3 * 0x1p-24 * std::sqrt(double(one.cols));
  return bounds;
}

std::vector<float> weights(std::int64_t cols) { return random_floats(cols, 99, 0.25f, 2); }

TEST(RmsNorm, MatchesTheReference) {
  for (const DType weight_type : {DType::f32, DType::bf16, DType::f16}) {
    check_rows(
        rms_norm_cases(),
        [&](RowsRun& r) {
          const Tensor w = tensor_of(weights(r.one.cols), {r.one.cols}, weight_type, r.stream);
          rms_norm_into(r.y.tensor(), r.x.tensor(), w, kEps, r.stream);
        },
        [&](RowsRun& r) {
          return ref::rms_norm(r.input, rounded(weights(r.one.cols), weight_type), r.one.rows,
                               r.one.cols, kEps);
        },
        bounds_of);
  }
}

void check_add(DType x_type, DType residual_type, DType y_type, Layout layout,
               const Stream& stream) {
  constexpr std::int64_t kRows = 5, kCols = 577;
  const auto x_values = random_floats(kRows * kCols, 1, -2, 2);
  const auto residual_values = random_floats(kRows * kCols, 2, -2, 2);
  const Guarded x({kRows, kCols}, x_type, layout, x_values, stream);
  const Guarded residual({kRows, kCols}, residual_type, layout, residual_values, stream);
  const Guarded y({kRows, kCols}, y_type, layout, stream);
  const Tensor w = tensor_of(weights(kCols), {kCols}, DType::f32, stream);
  add_rms_norm_into(y.tensor(), residual.tensor(), x.tensor(), w, kEps, stream);

  auto sum = rounded(x_values, x_type);
  const auto old = rounded(residual_values, residual_type);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += old[i];
  // Two terms of up to 2 may cancel: the sum's error is absolute.
  const Tolerance sum_bounds = {tolerance(residual_type).relative, 0x1p-22};
  const auto sums = compare(residual.values(stream), sum, {kRows, kCols}, sum_bounds);
  EXPECT_TRUE(sums.ok) << sums.message;
  Tolerance bounds = bounds_of({kRows, kCols, x_type, y_type, layout});
  bounds.absolute += 0x1p-22;
  const auto expected = ref::rms_norm(sum, rounded(weights(kCols), DType::f32), kRows, kCols, kEps);
  const auto result = compare(y.values(stream), expected, {kRows, kCols}, bounds);
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_EQ(y.damaged_bytes(stream) + residual.damaged_bytes(stream), 0);
}

TEST(RmsNorm, AddsTheResidualBeforeItIsRounded) {
  constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};
  for (const Device device : test_devices()) {
    const Stream stream(device);
    for (const DType residual : kTypes) {
      for (const DType x : kTypes) {
        for (const Layout layout : kAllLayouts) {
          SCOPED_TRACE(str(device, " x ", x, " residual ", residual, " ", name(layout)));
          check_add(x, residual, DType::f32, layout, stream);
          check_add(x, residual, DType::bf16, layout, stream);
        }
      }
    }
  }
}

TEST(RmsNorm, RowsDoNotDependOnTheBatch) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const Tensor x = tensor_of(random_floats(40 * 577, 3), {40, 577}, DType::f32, stream);
    const Tensor w = tensor_of(weights(577), {577}, DType::f32, stream);
    const auto all = values_of(rms_norm(x, w, kEps, stream), stream);
    const auto one = values_of(rms_norm(x.slice(0, 23, 24), w, kEps, stream), stream);
    for (std::size_t c = 0; c < one.size(); ++c) ASSERT_EQ(one[c], all[23 * 577 + c]) << device;
  }
}

TEST(RmsNorm, NanStaysInItsRow) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    auto values = random_floats(3 * 100, 3);
    values[150] = std::numeric_limits<float>::quiet_NaN();
    const Tensor x = tensor_of(values, {3, 100}, DType::f32, stream);
    const Tensor w = tensor_of(weights(100), {100}, DType::f32, stream);
    const auto y = values_of(rms_norm(x, w, kEps, stream), stream);
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(std::isnan(y[i]), i / 100 == 1) << device;
  }
}

TEST(RmsNorm, RowOfZerosGivesZeros) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const Tensor w = tensor_of(weights(33), {33}, DType::f32, stream);
    const Tensor x = Tensor::zeros({2, 33}, DType::f16, stream);
    for (const double value : values_of(rms_norm(x, w, kEps, stream), stream)) ASSERT_EQ(value, 0);
  }
}

TEST(RmsNorm, RefusesWhatItDoesNotTake) {
  const Stream stream(Device::cpu());
  const Tensor x = Tensor::zeros({2, 4}, DType::f32, stream);
  const Tensor w = Tensor::zeros({4}, DType::f32, stream);
  const auto refuse = [&](const Tensor& in, const Tensor& weight, float eps, const char* part) {
    const std::string message = failure_of([&] { rms_norm_into(x, in, weight, eps, stream); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refuse(x, Tensor::zeros({4}, DType::i32, stream), kEps,
         "rms_norm: weight: got i32 [4] on cpu; takes dtype f32, f16, bf16");
  refuse(x, Tensor::zeros({5}, DType::f32, stream), kEps, "takes shape [4]");
  refuse(Tensor::zeros({2, 4, 1}, DType::f32, stream), w, kEps, "takes 2 axes");
  refuse(x, w, -1, "eps: got -1");
  refuse(x, w, std::nanf(""), "eps: got nan");
  const std::string message = failure_of(
      [&] { add_rms_norm_into(x, Tensor::zeros({2, 5}, DType::f32, stream), x, w, kEps, stream); });
  EXPECT_NE(message.find("add_rms_norm: residual: got f32 [2, 5]"), std::string::npos) << message;
}

}  // namespace
}  // namespace tilewright
