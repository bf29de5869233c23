// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/sampling/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "tilewright/base/text.h"
#include "tilewright/harness/failure.h"
#include "tilewright/harness/samples.h"
#include "tilewright/ops/sampling/sampling_math.h"
#include "tilewright/ops/sampling/sampling_ref.h"
#include "tilewright/ops/sampling/sampling_select.h"
#include "tilewright/ops/sampling/sampling_table.h"

namespace tilewright {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<std::int32_t> sample(const Tensor& logits, const std::vector<SamplingParams>& params,
                                 const std::vector<std::int32_t>& positions, const Stream& stream) {
  const auto rows = std::int64_t(params.size());
  const Tensor stored = Tensor::from_host(
      params.data(), {rows * std::int64_t(sizeof(SamplingParams))}, DType::u8, stream);
  const Tensor tokens = Tensor::zeros({rows}, DType::i32, stream);
  sample_into(tokens, logits, stored, tensor_of(positions, stream), stream);
  std::vector<std::int32_t> result(params.size());
  tokens.to_host(result.data(), stream);
  return result;
}

// `draws` tokens of one row of logits, at positions 0, 1, 2, …
std::vector<std::int32_t> draw(const std::vector<float>& logits, const SamplingParams& params,
                               std::int64_t draws, const Stream& stream) {
  const auto vocab = std::int64_t(logits.size());
  const Tensor row = tensor_of(logits, {1, vocab}, DType::f32, stream);
  std::vector<std::int32_t> positions;
  for (std::int64_t i = 0; i < draws; ++i) positions.push_back(std::int32_t(i));
  return sample(row.broadcast_to({draws, vocab}), std::vector(std::size_t(draws), params),
                positions, stream);
}

std::set<std::int32_t> support(const std::vector<float>& logits, const SamplingParams& params,
                               const Stream& stream) {
  const auto tokens = draw(logits, params, 3000, stream);
  return {tokens.begin(), tokens.end()};
}

// The chance that a sum of squares as large as this comes from the right distribution is under
// 1e-6: the normal approximation of Wilson and Hilferty, 4.9 deviations.
double chi_square_limit(double degrees) {
  const double term = 2 / (9 * degrees);
  return degrees * std::pow(1 - term + 4.9 * std::sqrt(term), 3);
}

void expect_distribution(const std::vector<float>& logits, const SamplingParams& params,
                         const Stream& stream) {
  constexpr std::int64_t kDraws = 40000;
  const auto expected = ref::sampling_distribution(logits, params);
  std::vector<double> counts(logits.size());
  for (const std::int32_t token : draw(logits, params, kDraws, stream)) {
    ASSERT_GE(token, 0);
    ASSERT_LT(std::size_t(token), logits.size());
    ++counts[std::size_t(token)];
  }
  double chi_square = 0, degrees = -1, rest = 0, rest_count = 0;
  for (std::size_t j = 0; j < counts.size(); ++j) {
    const double wanted = expected[j] * kDraws;
    if (wanted == 0) {
      ASSERT_EQ(counts[j], 0) << "token " << j << " is filtered out";
    }
    if (wanted < 10) {  // pooled: too few for the approximation
      rest += wanted;
      rest_count += counts[j];
      continue;
    }
    chi_square += (counts[j] - wanted) * (counts[j] - wanted) / wanted;
    ++degrees;
  }
  if (rest >= 10) {
    chi_square += (rest_count - rest) * (rest_count - rest) / rest;
    ++degrees;
  }
  if (degrees < 1) return;
  EXPECT_LT(chi_square, chi_square_limit(degrees)) << degrees << " degrees of freedom";
}

SamplingParams params_of(float temperature, std::int32_t top_k = 0, float top_p = 1,
                         float min_p = 0, std::uint64_t seed = 42) {
  return {seed, temperature, top_p, min_p, top_k};
}

TEST(Sampling, DrawsFromTheDistribution) {
  const auto logits = random_floats(100, 12, -3, 3);
  for (const Device device : test_devices()) {
    const Stream stream(device);
    for (const SamplingParams& params :
         {params_of(1), params_of(0.5f), params_of(3), params_of(1, 10), params_of(1, 0, 0.8f),
          params_of(1, 0, 1, 0.1f), params_of(0.8f, 30, 0.9f, 0.05f), params_of(1, 0, 1, 0, 7)}) {
      SCOPED_TRACE(str(device, " t ", params.temperature, " k ", params.top_k, " p ", params.top_p,
                       " min ", params.min_p, " seed ", params.seed));
      expect_distribution(logits, params, stream);
    }
  }
}

TEST(Sampling, TemperatureZeroIsTheFirstLargest) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    EXPECT_EQ(draw({1, 5, 5, 2}, params_of(0, 3, 0.5f), 3, stream),
              (std::vector<std::int32_t>{1, 1, 1}));
    EXPECT_EQ(draw({1, 5, 5, 2}, params_of(-1), 1, stream)[0], 1);
    EXPECT_EQ(draw({1, 5, 5, 2}, params_of(kNan), 1, stream)[0], 1);
  }
}

TEST(Sampling, TopKKeepsTies) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const std::vector<float> logits = {1, 2, 2, 2, 0, -0.0f};
    EXPECT_EQ(support(logits, params_of(1, 1), stream), (std::set<std::int32_t>{1, 2, 3}));
    EXPECT_EQ(support(logits, params_of(1, 3), stream), (std::set<std::int32_t>{1, 2, 3}));
    EXPECT_EQ(support(logits, params_of(1, 4), stream), (std::set<std::int32_t>{0, 1, 2, 3}));
    // 0 and -0 are one value.
    EXPECT_EQ(support(logits, params_of(1, 5), stream).size(), 6u);
    EXPECT_EQ(support(logits, params_of(1, 6), stream).size(), 6u);
    EXPECT_EQ(support(logits, params_of(1, 600), stream).size(), 6u);
    EXPECT_EQ(support(logits, params_of(1, -3), stream).size(), 6u);
  }
}

TEST(Sampling, TopPKeepsTheFewestThatReachIt) {
  // Probabilities 1/2, 1/4, 1/8, 1/8.
  const std::vector<float> logits = {std::log(2.0f), std::log(8.0f), std::log(4.0f),
                                     std::log(2.0f)};
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const auto left = [&](float p) { return support(logits, params_of(1, 0, p), stream); };
    EXPECT_EQ(left(0), (std::set<std::int32_t>{1}));
    EXPECT_EQ(left(-1), (std::set<std::int32_t>{1}));
    EXPECT_EQ(left(0.49f), (std::set<std::int32_t>{1}));
    EXPECT_EQ(left(0.51f), (std::set<std::int32_t>{1, 2}));
    EXPECT_EQ(left(0.74f), (std::set<std::int32_t>{1, 2}));
    EXPECT_EQ(left(0.76f), (std::set<std::int32_t>{0, 1, 2, 3}));  // ties are all kept
    EXPECT_EQ(left(1), (std::set<std::int32_t>{0, 1, 2, 3}));
  }
}

TEST(Sampling, TopPCountsOnWhatTopKLeft) {
  // Of 1/2, 1/4, 1/8, 1/8, top-k leaves 2/3 and 1/3: p = 0.6 needs one of them, not two.
  const std::vector<float> logits = {std::log(2.0f), std::log(8.0f), std::log(4.0f),
                                     std::log(2.0f)};
  for (const Device device : test_devices()) {
    const Stream stream(device);
    EXPECT_EQ(support(logits, params_of(1, 2, 0.6f), stream), (std::set<std::int32_t>{1}));
    EXPECT_EQ(support(logits, params_of(1, 0, 0.6f), stream), (std::set<std::int32_t>{1, 2}));
  }
}

TEST(Sampling, MinPIsAFractionOfTheLargest) {
  const std::vector<float> logits = {std::log(2.0f), std::log(8.0f), std::log(4.0f),
                                     std::log(2.0f)};
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const auto left = [&](float p) { return support(logits, params_of(1, 0, 1, p), stream); };
    EXPECT_EQ(left(0.24f), (std::set<std::int32_t>{0, 1, 2, 3}));
    EXPECT_EQ(left(0.26f), (std::set<std::int32_t>{1, 2}));
    EXPECT_EQ(left(0.51f), (std::set<std::int32_t>{1}));
    EXPECT_EQ(left(1), (std::set<std::int32_t>{1}));
    EXPECT_EQ(left(2), (std::set<std::int32_t>{1}));
  }
}

TEST(Sampling, UnusualLogits) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const auto one = [&](const std::vector<float>& logits) {
      return draw(logits, params_of(1, 2, 0.9f), 1, stream)[0];
    };
    EXPECT_EQ(one({7}), 0);
    EXPECT_EQ(one({1, kNan, kInfinity, kNan}), 1);
    EXPECT_EQ(one({-kInfinity, -kInfinity, -kInfinity}), 0);
    EXPECT_EQ(one({1, kInfinity, kInfinity}), 1);
    EXPECT_EQ(one({-kInfinity, 3, -kInfinity}), 1);
    EXPECT_EQ(support({-kInfinity, 3, 3, -kInfinity}, params_of(1), stream),
              (std::set<std::int32_t>{1, 2}));
    EXPECT_EQ(support({-3e38f, 3e38f, 3e38f}, params_of(1), stream),
              (std::set<std::int32_t>{1, 2}));
    // So hot that all are equal, so cold that only the largest is left.
    EXPECT_EQ(support({1, 2, 3}, params_of(kInfinity), stream).size(), 3u);
    EXPECT_EQ(support({1, 2, 3}, params_of(1e-40f), stream), (std::set<std::int32_t>{2}));
  }
}

TEST(Sampling, RowsDoNotDependOnTheBatch) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    constexpr std::int64_t kRows = 6, kVocab = 1003;
    const Tensor logits =
        tensor_of(random_floats(kRows * kVocab, 4, -4, 4), {kRows, kVocab}, DType::f32, stream);
    const std::vector<SamplingParams> params = {params_of(1),
                                                params_of(0),
                                                params_of(1, 40),
                                                params_of(0.7f, 0, 0.9f),
                                                params_of(1, 0, 1, 0.2f),
                                                params_of(1, 50, 0.9f, 0.01f, 9)};
    const std::vector<std::int32_t> positions = {5, 6, 7, 8, 9, -10};
    const auto all = sample(logits, params, positions, stream);
    for (std::size_t r = 0; r < params.size(); ++r) {
      const auto row = std::int64_t(r);
      EXPECT_EQ(sample(logits.slice(0, row, row + 1), {params[r]}, {positions[r]}, stream)[0],
                all[r])
          << device << " row " << r;
    }
  }
}

// Filters that keep everything change nothing: the noise belongs to the token.
TEST(Sampling, FiltersDoNotChangeTheNoise) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const auto logits = random_floats(501, 13, -2, 2);
    const auto plain = draw(logits, params_of(1), 200, stream);
    EXPECT_EQ(draw(logits, params_of(1, 0, 0.9999999f), 200, stream), plain) << device;
    EXPECT_EQ(draw(logits, params_of(1, 0, 1, 1e-9f), 200, stream), plain) << device;
    EXPECT_NE(draw(logits, params_of(1, 0, 1, 0, 43), 200, stream), plain) << device;
  }
}

// Decisions are made from the same bits on every device.
TEST(Sampling, DevicesAgree) {
  const auto devices = test_devices();
  if (devices.size() < 2) GTEST_SKIP() << "one device only";
  const Stream first(devices[0]), second(devices[1]);
  const auto logits = random_floats(49152, 14, -12, 6);
  for (const SamplingParams& params :
       {params_of(1), params_of(0.7f, 40, 0.9f, 0.02f), params_of(1.3f, 0, 0.95f)}) {
    EXPECT_EQ(draw(logits, params, 300, first), draw(logits, params, 300, second));
  }
}

TEST(Philox, KnownAnswers) {
  // The test vectors that come with the paper's code.
  const Philox4 zero = philox4x32_10(0, {{0, 0, 0, 0}});
  EXPECT_EQ(zero.word[0], 0x6627e8d5u);
  EXPECT_EQ(zero.word[3], 0x9b00dbd8u);
  const Philox4 ones = philox4x32_10(~0ull, {{~0u, ~0u, ~0u, ~0u}});
  EXPECT_EQ(ones.word[0], 0x408f276du);
  EXPECT_EQ(ones.word[3], 0x6d5451fdu);
  const Philox4 pi =
      philox4x32_10(0x299f31d0a4093822ull, {{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}});
  EXPECT_EQ(pi.word[0], 0xd16cfe09u);
  EXPECT_EQ(pi.word[1], 0x94fdccebu);
  EXPECT_EQ(pi.word[2], 0x5001e420u);
  EXPECT_EQ(pi.word[3], 0x24126ea1u);
}

TEST(ExactMath, WithinTwoUnits) {
  for (double x = 0; x > -87; x -= 0.00137) {
    const double expected = std::exp(double(float(x)));
    ASSERT_NEAR(exact_exp_nonpositive(float(x)) / expected, 1, 2 * 0x1p-23) << x;
  }
  for (double x = 1e-30; x < 1e30; x *= 1.00137) {
    const double expected = std::log(double(float(x)));
    ASSERT_NEAR(exact_log(float(x)), expected, 2 * 0x1p-23 * std::fabs(expected) + 1e-12) << x;
  }
  for (std::uint64_t bits = 0; bits < (1ull << 32); bits += 99991) {
    const float u = uniform_open(std::uint32_t(bits));
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    ASSERT_NEAR(exact_log1m(u) / std::log1p(-double(u)), 1, 4 * 0x1p-23) << u;
  }
  EXPECT_EQ(exact_exp_nonpositive(0), 1);
  EXPECT_EQ(exact_exp_nonpositive(-kInfinity), 0);
}

// The table of this processor against the definition, element by element.
TEST(SamplingTables, GiveTheBitsOfTheDefinition) {
  const SamplingTable& table = sampling_table();
  auto logits = random_floats(1013, 15, -100, 4);
  logits[3] = -kInfinity;
  std::vector<float> scaled(logits.size()), probabilities(logits.size()), noise(1016);
  const auto count = std::int64_t(logits.size());
  table.scale(logits.data(), count, 4, 1.25f, scaled.data());
  table.probabilities(scaled.data(), count, probabilities.data());
  table.noise(77, -3, 5, 254, noise.data());
  for (std::size_t j = 0; j < logits.size(); ++j) {
    ASSERT_EQ(scaled[j], sampling_scaled(logits[j], 4, 1.25f)) << j;
    ASSERT_EQ(probabilities[j], sampling_probability(scaled[j])) << j;
    const Philox4 words = sampling_noise(77, -3, std::uint32_t(5 + j / 4));
    ASSERT_EQ(noise[j], gumbel(words.word[j % 4])) << j;
  }
}

TEST(SelectKey, FindsTheThreshold) {
  const std::vector<std::uint32_t> keys = {5, 0xffffffffu, 7, 7, 0, 0x01000000u};
  const auto select = [&](std::uint64_t target) {
    return select_key(keys.data(), nullptr, 6, target);
  };
  EXPECT_EQ(select(1), 0xffffffffu);
  EXPECT_EQ(select(2), 0x01000000u);
  EXPECT_EQ(select(3), 7u);
  EXPECT_EQ(select(4), 7u);
  EXPECT_EQ(select(5), 5u);
  EXPECT_EQ(select(6), 0u);
  EXPECT_EQ(select(7), 0u);
  const std::vector<std::uint64_t> weights = {1, 10, 100, 100, 1, 20};
  const auto weighted = [&](std::uint64_t target) {
    return select_key(keys.data(), weights.data(), 6, target);
  };
  EXPECT_EQ(weighted(10), 0xffffffffu);
  EXPECT_EQ(weighted(11), 0x01000000u);
  EXPECT_EQ(weighted(31), 7u);
  EXPECT_EQ(weighted(230), 7u);
  EXPECT_EQ(weighted(231), 5u);
}

TEST(Sampling, RefusesWhatItDoesNotTake) {
  const Stream stream(Device::cpu());
  const Tensor logits = Tensor::zeros({2, 8}, DType::f32, stream);
  const Tensor places = Tensor::zeros({2}, DType::i32, stream);
  const Tensor params = Tensor::zeros({2 * 24}, DType::u8, stream);
  const auto refuse = [&](const Tensor& l, const Tensor& p, const char* part) {
    const std::string message = failure_of([&] { sample_into(places, l, p, places, stream); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refuse(Tensor::zeros({2, 8}, DType::f16, stream), params, "sampling: logits: got f16 [2, 8]");
  refuse(Tensor::zeros({2, 0}, DType::f32, stream), params, "takes 1 to 8388608 columns");
  refuse(Tensor::zeros({3, 8}, DType::f32, stream), params, "sampling: tokens: got i32 [2]");
  refuse(logits, Tensor::zeros({24}, DType::u8, stream),
         "sampling: params: got u8 [24] on cpu; takes shape [48]");
}

}  // namespace
}  // namespace tilewright
