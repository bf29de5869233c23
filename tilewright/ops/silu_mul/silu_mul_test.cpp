// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/silu_mul/silu_mul.h"

#include <cmath>
#include <limits>

#include "tilewright/harness/failure.h"
#include "tilewright/harness/row_op_internal.h"
#include "tilewright/ops/silu_mul/silu_mul_cases.h"
#include "tilewright/ops/silu_mul/silu_mul_ref.h"

namespace tilewright {
namespace {

void check_with(DType up_type) {
  check_rows(
      silu_mul_cases(),
      [&](RowsRun& r) {
        const Guarded up({r.one.rows, r.one.cols}, up_type, r.one.layout,
                         random_floats(r.one.rows * r.one.cols, 50), r.stream);
        silu_mul_into(r.y.tensor(), r.x.tensor(), up.tensor(), r.stream);
        r.stream.synchronize();
      },
      [&](RowsRun& r) {
        auto y = rounded(random_floats(r.one.rows * r.one.cols, 50), up_type);
        for (std::size_t i = 0; i < y.size(); ++i) y[i] *= ref::silu(r.input[i]);
        return y;
      },
      [](const RowsCase& one) {
        Tolerance bounds = tolerance(one.out);
        bounds.relative += 4 * 0x1p-23;  // exp, a division and two products
        return bounds;
      },
      12);
}

TEST(SiluMul, MatchesTheReference) { check_with(DType::f32); }
TEST(SiluMul, TakesMixedTypes) { check_with(DType::bf16); }

TEST(SiluMul, ExtremeGates) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> gate = {-kInfinity, -3e38f, -200, -50, 0, 200, 3e38f, kInfinity, kNan};
  const std::vector<double> expected = {
      0, 0, 0, ref::silu(-50), 0, 200, double(3e38f), double(kInfinity), double(kNan)};
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const Tensor g = tensor_of(gate, {1, 9}, DType::f32, stream);
    const Tensor ones = tensor_of(std::vector<float>(9, 1), {1, 9}, DType::f32, stream);
    // -0 and 1e-37 pass for 0: below float's normal range nothing is promised.
    const auto result = compare(values_of(silu_mul(g, ones, stream), stream), expected, {1, 9},
                                {8 * 0x1p-23, 2e-36});
    EXPECT_TRUE(result.ok) << device << ": " << result.message;
  }
}

TEST(SiluMul, HalvesOfOneTensorAndInPlace) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const auto values = random_floats(5 * 200, 8, -3, 3);
    const Tensor both = tensor_of(values, {5, 200}, DType::f32, stream);
    const Tensor gate = both.slice(1, 0, 100), up = both.slice(1, 100, 200);
    const auto apart = values_of(silu_mul(gate, up, stream), stream);
    silu_mul_into(gate, gate, up, stream);
    EXPECT_EQ(values_of(gate, stream), apart) << device;
  }
}

TEST(SiluMul, RefusesWhatItDoesNotTake) {
  const Stream stream(Device::cpu());
  const Tensor x = Tensor::zeros({2, 4}, DType::f32, stream);
  const std::string message =
      failure_of([&] { silu_mul(x, Tensor::zeros({2, 3}, DType::f32, stream), stream); });
  EXPECT_NE(message.find("silu_mul: up: got f32 [2, 3] on cpu; takes shape [2, 4]"),
            std::string::npos)
      << message;
}

}  // namespace
}  // namespace tilewright
