// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/linear/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/harness/cases.h"
#include "tilewright/ops/_core/blocks.h"
#include "tilewright/ops/linear/linear_cases.h"
#include "tilewright/ops/linear/linear_ref.h"
#include "tilewright/runtime/graph.h"

namespace tilewright {
namespace {

using Bytes = std::vector<unsigned char>;

std::vector<float> noise(std::mt19937& random, std::int64_t count, float scale) {
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

// A tensor whose memory is a byte image of the test's making: any stride, any alignment.
struct Image {
  Tensor bytes, tensor;
  std::int64_t row_bytes = 0, pitch = 0, start = 0;

  Image() = default;
  Image(const std::vector<float>& values, const Shape& shape, DType dtype, bool strided,
        bool misaligned, const Stream& stream) {
    const std::int64_t rows = shape.rank() == 2 ? shape[0] : 1, cols = shape[-1];
    const DTypeInfo& type = info(dtype);
    const std::int64_t spare = strided && type.block == 1 ? 5 : strided ? type.block : 0;
    row_bytes = std::int64_t(bytes_of(dtype, cols));
    pitch = std::int64_t(bytes_of(dtype, cols + spare));
    start = !misaligned ? 0 : type.block == 1 ? type.bytes : 1;
    Bytes image(std::size_t(start + rows * pitch + 64), 0xff);
    for (std::int64_t r = 0; r < rows; ++r)
      quantize_row(dtype, values.data() + r * cols, image.data() + start + r * pitch, cols);
    bytes = Tensor::from_host(image.data(), {std::int64_t(image.size())}, DType::u8, stream);
    stream.synchronize();
    const Shape strides =
        shape.rank() == 2 ? Shape{std::max<std::int64_t>(cols + spare, type.block), 1} : Shape{1};
    tensor = Tensor::wrap(bytes.data_as<unsigned char>() + start, shape, strides, dtype,
                          stream.device());
  }

  Bytes host(const Stream& stream) const {
    Bytes image(bytes.bytes());
    bytes.to_host(image.data(), stream);
    return image;
  }
  // The tensor's values, row by row.
  std::vector<float> values(const Stream& stream) const {
    const Bytes image = host(stream);
    const std::int64_t rows = tensor.rank() == 2 ? tensor.size(0) : 1, cols = tensor.size(-1);
    std::vector<float> out(std::size_t(rows * cols));
    for (std::int64_t r = 0; r < rows; ++r)
      dequantize_row(tensor.dtype(), image.data() + start + r * pitch, out.data() + r * cols, cols);
    return out;
  }
};

struct Operands {
  LinearCase c;
  ref::LinearProblem problem;
  Image x, y, bias, residual, norm;
  std::vector<Image> weights;
  std::int64_t n = 0;

  Operands(const LinearCase& linear_case, const Stream& stream, unsigned seed = 7)
      : c(linear_case) {
    std::mt19937 random(seed);
    for (const std::int64_t rows : c.rows) n += rows;
    if (c.silu_pairs) n /= 2;
    x = Image(noise(random, c.m * c.k, 1), {c.m, c.k}, c.x, c.strided, c.misaligned, stream);
    for (std::size_t i = 0; i < c.rows.size(); ++i)
      weights.emplace_back(noise(random, c.rows[i] * c.k, 0.1f), Shape{c.rows[i], c.k},
                           c.weights[i], c.strided, c.misaligned, stream);
    if (c.bias) bias = Image(noise(random, n, 1), {n}, c.x, false, c.misaligned, stream);
    if (c.norm) norm = Image(noise(random, c.k, 1), {c.k}, c.x, false, c.misaligned, stream);
    const std::vector<float> added = noise(random, c.m * n, 1);
    y = Image(added, {c.m, n}, c.y, c.strided, c.misaligned, stream);
    if (c.residual && !c.residual_is_y)
      residual = Image(added, {c.m, n}, c.y, c.strided, c.misaligned, stream);
    describe(stream);
  }

  void describe(const Stream& stream) {
    problem.m = c.m;
    problem.k = c.k;
    problem.x = x.values(stream);
    for (std::size_t i = 0; i < weights.size(); ++i)
      problem.weights.push_back({weights[i].values(stream), c.rows[i], is_block_type(c.weights[i]),
                                 c.weights[i] == DType::q4_1});
    if (c.bias) problem.bias = bias.values(stream);
    if (c.norm) problem.norm_weight = norm.values(stream);
    if (c.residual) problem.residual = y.values(stream);
    problem.norm_eps = c.norm ? 1e-5f : 0;
    problem.silu_pairs = c.silu_pairs;
    if (stream.device().is_cpu())
      problem.levels = c.activations == ActivationRounding::kEightBit ? 127 : 16256;
  }

  LinearOptions options() const {
    return {.bias = bias.tensor,
            .residual = c.residual_is_y ? y.tensor : residual.tensor,
            .norm_weight = norm.tensor,
            .norm_eps = problem.norm_eps,
            .silu_pairs = c.silu_pairs,
            .activations = c.activations};
  }

  void run(const Stream& stream) const {
    std::vector<Tensor> tensors;
    for (const Image& weight : weights) tensors.push_back(weight.tensor);
    linear_into(y.tensor, x.tensor, tensors, options(), stream);
    stream.synchronize();
  }
};

// Half a unit in the last place of `value` as `dtype`.
double rounding(DType dtype, double value) {
  if (dtype == DType::f16) return std::fabs(value) / 2048 + 1e-7;
  return dtype == DType::bf16 ? std::fabs(value) / 256 : 0;
}

void expect_matches(const LinearCase& c, const Stream& stream) {
  SCOPED_TRACE(testing::Message() << c << " on " << stream.device());
  const Operands setup(c, stream);
  const Bytes before = setup.y.host(stream);
  setup.run(stream);
  const ref::LinearExpected expected = ref::linear(setup.problem);
  const std::vector<float> got = setup.y.values(stream);
  ASSERT_EQ(got.size(), expected.y.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected.y[i], expected.bound[i] + rounding(c.y, expected.y[i]))
        << "element " << i;
  // What lies between and around the rows of y is not ours.
  const Bytes after = setup.y.host(stream);
  for (std::size_t at = 0; at < after.size(); ++at) {
    const std::int64_t inside = std::int64_t(at) - setup.y.start;
    const bool ours = inside >= 0 && inside < c.m * setup.y.pitch &&
                      inside % std::max<std::int64_t>(setup.y.pitch, 1) < setup.y.row_bytes;
    if (!ours) {
      ASSERT_EQ(after[at], before[at]) << "byte " << at << " was written";
    }
  }
}

class LinearTypes : public testing::TestWithParam<DType> {};

// Each case, on the cpu with both roundings of x.
void expect_all_match(std::vector<LinearCase> cases) {
  for (LinearCase& c : cases) {
    for (const Device device : test_devices()) expect_matches(c, Stream(device));
    c.activations = ActivationRounding::kEightBit;
    expect_matches(c, Stream(Device::cpu()));
  }
}

TEST_P(LinearTypes, MatchesReferenceOnAwkwardShapes) {
  std::vector<LinearCase> cases;
  add_shape_cases(cases, GetParam());
  expect_all_match(std::move(cases));
}

TEST_P(LinearTypes, MatchesReferenceWithEveryOption) {
  std::vector<LinearCase> cases;
  add_option_cases(cases, GetParam());
  expect_all_match(std::move(cases));
}

// On cpu the order of additions of an output depends on K alone.
TEST_P(LinearTypes, RowsDoNotDependOnTheBatch) {
  const Stream stream(Device::cpu());
  for (const auto activations : {ActivationRounding::kSixteenBit, ActivationRounding::kEightBit}) {
    const Operands all({.m = 37,
                        .k = 1536,
                        .rows = {50},
                        .weights = {GetParam()},
                        .norm = true,
                        .activations = activations},
                       stream);
    all.run(stream);
    const Bytes many = all.y.host(stream);
    for (const std::int64_t count : {1, 2, 5}) {
      for (std::int64_t row = 0; row + count <= 37; row += 9) {
        const Tensor x = all.x.tensor.slice(0, row, row + count);
        std::vector<float> y(std::size_t(count * all.n));
        linear_into(Tensor::wrap(y.data(), {count, all.n}, DType::f32, Device::cpu()), x,
                    all.weights[0].tensor, all.options(), stream);
        ASSERT_EQ(0, std::memcmp(y.data(), many.data() + row * all.n * 4, y.size() * 4))
            << "rows " << row << " to " << row + count;
      }
    }
  }
}

TEST_P(LinearTypes, ThreadsDoNotChangeTheResult) {
  const Stream stream(Device::cpu());
  const int threads = thread_count();
  Bytes first;
  for (const int count : {1, 3, 8}) {
    set_thread_count(count);
    const Operands setup({.m = 130, .k = 512, .rows = {70}, .weights = {GetParam()}}, stream);
    setup.run(stream);
    const Bytes y = setup.y.host(stream);
    if (first.empty()) first = y;
    EXPECT_EQ(y, first) << count << " threads";
  }
  set_thread_count(threads);
}

TEST_P(LinearTypes, NotANumberReachesItsRowAlone) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      const Operands setup({.m = 6, .k = 512, .rows = {20}, .weights = {GetParam()}}, stream);
      Bytes image = setup.x.host(stream);
      std::memcpy(image.data() + (2 * 512 + 77) * 4, &bad, 4);
      const Tensor x = Tensor::from_host(image.data(), {6, 512}, DType::f32, stream);
      linear_into(setup.y.tensor, x, setup.weights[0].tensor, {}, stream);
      const std::vector<float> y = setup.y.values(stream);
      for (std::size_t i = 0; i < y.size(); ++i)
        EXPECT_EQ(std::isfinite(y[i]), i / 20 != 2) << device << " element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LinearTypes, testing::ValuesIn(linear_weight_types()),
                         [](const auto& type) { return std::string(name(type.param)); });

TEST(Linear, MatchesReferenceWithMixedParts) {
  std::vector<LinearCase> mixed;
  for (const LinearCase& c : linear_cases())
    if (c.weights.size() == 3 && c.weights[0] != c.weights[1]) mixed.push_back(c);
  expect_all_match(std::move(mixed));
}

// The 16-bit rounding of x is next to none; the 8-bit one is seen.
TEST(Linear, SixteenBitsAreNearlyExact) {
  const Stream stream(Device::cpu());
  for (const DType type : {DType::q8_0, DType::q4_0, DType::q4_1, DType::q6_k}) {
    double error[2] = {};
    for (const bool eight : {false, true}) {
      Operands setup(
          {.m = 9,
           .k = 512,
           .rows = {64},
           .weights = {type},
           .activations = eight ? ActivationRounding::kEightBit : ActivationRounding::kSixteenBit},
          stream);
      setup.run(stream);
      setup.problem.levels = 0;
      const std::vector<double> exact = ref::linear(setup.problem).y;
      const std::vector<float> got = setup.y.values(stream);
      double squares = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        error[eight] += std::pow(double(got[i]) - exact[i], 2);
        squares += exact[i] * exact[i];
      }
      error[eight] = std::sqrt(error[eight] / squares);
    }
    // The largest of 32 normal values is 2.4 deviations (root mean square); rounding to multiples
    // of u has the deviation u / sqrt(12).
    const double one_level = 2.4 / std::sqrt(12);
    EXPECT_NEAR(error[0], one_level / 16256, 0.1 * one_level / 16256) << type;
    EXPECT_NEAR(error[1], one_level / 127, 0.1 * one_level / 127) << type;
  }
}

TEST(Linear, ReplaysWhatACaptureRecorded) {
  const Stream stream(Device::cpu());
  Tensor y = Tensor::zeros({1, 3}, DType::f32, stream),
         x = Tensor::zeros({1, 2}, DType::f32, stream);
  Graph graph;
  {
    // Nothing but the graph keeps the weight alive.
    const float values[] = {1, 2, 3, 4, 5, 6};
    const Tensor weight = Tensor::from_host(values, {3, 2}, DType::f32, stream);
    graph = Graph::capture(stream, [&] { linear_into(y, x, weight, {}, stream); });
  }
  EXPECT_EQ(y.data_as<float>()[2], 0.0f) << "capturing must not run";
  x.data_as<float>()[0] = 10;
  x.data_as<float>()[1] = 1;
  graph.replay(stream);
  EXPECT_EQ(y.data_as<float>()[0], 12.0f);
  EXPECT_EQ(y.data_as<float>()[2], 56.0f);
}

// The message names the op, the argument, what came and what would do.
void expect_refused(const LinearCase& c, const char* argument,
                    const std::function<void(Operands&, LinearOptions&)>& spoil) {
  const Stream stream(Device::cpu());
  Operands setup(c, stream);
  LinearOptions options = setup.options();
  spoil(setup, options);
  std::vector<Tensor> weights;
  for (const Image& weight : setup.weights) weights.push_back(weight.tensor);
  try {
    linear_into(setup.y.tensor, setup.x.tensor, weights, options, stream);
    ADD_FAILURE() << "accepted a bad " << argument;
  } catch (const InvalidArgument& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(str("linear: ", argument)), std::string::npos) << message;
    EXPECT_NE(message.find("takes"), std::string::npos) << message;
  }
}

TEST(Linear, RefusesWhatDoesNotFit) {
  const LinearCase plain{.m = 2, .k = 64, .rows = {8}, .weights = {DType::q4_1}};
  const LinearCase pair{.m = 2, .k = 64, .rows = {8, 9}, .weights = {DType::f32, DType::f32}};
  const Stream stream(Device::cpu());
  const auto tensor = [&](const Shape& shape, DType dtype) {
    return Tensor::zeros(shape, dtype, stream);
  };
  expect_refused(plain, "x", [&](Operands& s, LinearOptions&) { s.x.tensor = {}; });
  expect_refused(plain, "x",
                 [&](Operands& s, LinearOptions&) { s.x.tensor = tensor({2, 64}, DType::i32); });
  expect_refused(plain, "x", [&](Operands& s, LinearOptions&) {
    s.x.tensor = tensor({64, 2}, DType::f32).transpose(0, 1);
  });
  expect_refused(plain, "weights[0]", [&](Operands& s, LinearOptions&) {
    s.weights[0].tensor = tensor({8, 96}, DType::q4_1);
  });
  expect_refused(plain, "weights[0]", [&](Operands& s, LinearOptions&) {
    s.weights[0].tensor = tensor({8, 64}, DType::q5_0);
  });
  expect_refused(plain, "weights", [&](Operands& s, LinearOptions&) { s.weights.clear(); });
  expect_refused(plain, "y",
                 [&](Operands& s, LinearOptions&) { s.y.tensor = tensor({2, 9}, DType::f32); });
  expect_refused(plain, "bias",
                 [&](Operands&, LinearOptions& o) { o.bias = tensor({7}, DType::f32); });
  expect_refused(plain, "residual", [&](Operands& s, LinearOptions& o) {
    o.residual = s.y.tensor.reinterpret(DType::i32);
  });
  expect_refused(plain, "norm_weight",
                 [&](Operands&, LinearOptions& o) { o.norm_weight = tensor({8}, DType::f32); });
  expect_refused(plain, "silu_pairs", [&](Operands&, LinearOptions& o) { o.silu_pairs = true; });
  expect_refused(pair, "silu_pairs", [&](Operands&, LinearOptions& o) { o.silu_pairs = true; });
}

}  // namespace
}  // namespace tilewright
