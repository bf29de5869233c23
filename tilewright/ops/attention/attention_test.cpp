// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tilewright/base/parallel.h"
#include "tilewright/base/text.h"
#include "tilewright/harness/compare.h"
#include "tilewright/harness/failure.h"
#include "tilewright/harness/samples.h"
#include "tilewright/ops/attention/attention_cases.h"
#include "tilewright/ops/attention/attention_ref.h"

namespace tilewright {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Everything a call needs, with entries past each sequence's length NaN: none may be read into a
// result.
struct Problem {
  AttentionCase one;
  std::vector<float> q_values, key_values, cached_values;
  std::vector<std::int32_t> positions, sequences;

  explicit Problem(const AttentionCase& given) : one(given) {
    const std::int64_t tokens = one.tokens * one.sequences;
    q_values = random_floats(tokens * one.heads * one.head_dim, 31, -2, 2);
    const std::int64_t count = one.sequences * one.kv_heads * one.capacity * one.head_dim;
    key_values = random_floats(count, 32, -2, 2);
    cached_values = random_floats(count, 33, -2, 2);
    for (std::int64_t i = 0; i < count; ++i) {
      if (i / one.head_dim % one.capacity < one.length) continue;
      key_values[std::size_t(i)] = cached_values[std::size_t(i)] = kNan;
    }
    for (std::int64_t s = 0; s < one.sequences; ++s) {
      for (std::int64_t t = 0; t < one.tokens; ++t) {
        positions.push_back(std::int32_t(one.length - one.tokens + t));
        sequences.push_back(std::int32_t(one.sequences - 1 - s));
      }
    }
  }

  Shape q_shape() const { return {std::int64_t(positions.size()), one.heads, one.head_dim}; }
  Shape cache_shape() const { return {one.sequences, one.kv_heads, one.capacity, one.head_dim}; }

  std::vector<double> run(const Stream& stream, const AttentionOptions& options = {}) const {
    const Guarded q(q_shape(), one.q, one.layout, q_values, stream);
    const Guarded keys(cache_shape(), one.cache, one.layout, key_values, stream);
    const Guarded cached(cache_shape(), one.cache, one.layout, cached_values, stream);
    const Guarded out(q_shape(), one.out, one.layout, stream);
    attention_into(out.tensor(), q.tensor(), {keys.tensor(), cached.tensor()},
                   tensor_of(positions, stream), tensor_of(sequences, stream), options, stream);
    EXPECT_EQ(out.damaged_bytes(stream), 0) << "written outside the result";
    return out.values(stream);
  }

  std::vector<double> expected(double scale, bool causal = true) const {
    const auto q = rounded(q_values, one.q);
    const auto keys = rounded(key_values, one.cache), cached = rounded(cached_values, one.cache);
    std::vector<double> out;
    for (std::size_t t = 0; t < positions.size(); ++t) {
      for (std::int64_t h = 0; h < one.heads; ++h) {
        const bool known = sequences[t] >= 0 && sequences[t] < one.sequences && positions[t] >= 0;
        const std::int64_t count = !known   ? 0
                                   : causal ? std::min<std::int64_t>(positions[t] + 1, one.capacity)
                                            : one.capacity;
        const std::int64_t head = h / (one.heads / one.kv_heads);
        const std::int64_t at =
            known ? (sequences[t] * one.kv_heads + head) * one.capacity * one.head_dim : 0;
        const auto row =
            ref::attend(q.data() + (std::int64_t(t) * one.heads + h) * one.head_dim,
                        keys.data() + at, cached.data() + at, count, one.head_dim, scale);
        out.insert(out.end(), row.begin(), row.end());
      }
    }
    return out;
  }
};

// A score is a sum of head_dim products of size up to 4 over sqrt(head_dim); its error scales the
// weights. Outputs are averages of values up to 2.
Tolerance bounds_of(const AttentionCase& one) {
  const double score_error = 6 * 0x1p-24 * 4;
  const double sum_error = 6 * 0x1p-24 * std::sqrt(double(one.length));
  Tolerance bounds = tolerance(one.out);
  bounds.absolute += 2 * (score_error + sum_error);
  return bounds;
}

std::string describe(const AttentionCase& one, Device device) {
  return str(one.sequences, "x", one.tokens, " tokens of ", one.length, ", ", one.heads, "/",
             one.kv_heads, " heads of ", one.head_dim, ", ", one.q, " ", one.cache, " ", one.out,
             " ", name(one.layout), " on ", device);
}

TEST(Attention, MatchesTheReference) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    for (const AttentionCase& one : attention_cases()) {
      SCOPED_TRACE(describe(one, device));
      const Problem problem(one);
      const auto result =
          compare(problem.run(stream), problem.expected(1 / std::sqrt(one.head_dim)),
                  problem.q_shape(), bounds_of(one));
      EXPECT_TRUE(result.ok) << result.message;
    }
  }
}

TEST(Attention, ScaleAndFullVisibility) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    AttentionCase one{6, 2, 4, 2, 64, 300, 300};
    const Problem problem(one);
    AttentionOptions options;
    options.scale = 0.03f;
    options.causal = false;
    const auto result = compare(problem.run(stream, options), problem.expected(0.03f, false),
                                problem.q_shape(), bounds_of(one));
    EXPECT_TRUE(result.ok) << device << ": " << result.message;
  }
}

TEST(Attention, RowsThatSeeNothingAreZero) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    Problem problem({5, 1, 4, 2, 64, 20, 32});
    problem.positions = {-1, 3, 4, -2147483647, 6};
    problem.sequences = {0, 0, -1, 0, 1};
    const auto out = problem.run(stream);
    const auto result =
        compare(out, problem.expected(0.125), problem.q_shape(), bounds_of(problem.one));
    EXPECT_TRUE(result.ok) << device << ": " << result.message;
    for (const std::size_t token : {0, 2, 3, 4}) {
      for (std::size_t i = 0; i < 256; ++i) ASSERT_EQ(out[token * 256 + i], 0) << device;
    }
  }
}

TEST(Attention, PositionPastTheCapacitySeesAllOfIt) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    Problem problem({2, 1, 4, 2, 64, 20, 20});
    problem.positions = {19, 500};
    const auto result = compare(problem.run(stream), problem.expected(0.125), problem.q_shape(),
                                bounds_of(problem.one));
    EXPECT_TRUE(result.ok) << device << ": " << result.message;
  }
}

TEST(Attention, LaterTokensNeverReachEarlierOnes) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    Problem problem({40, 1, 6, 2, 64, 100, 128});
    const auto clean = problem.run(stream);
    // Entry 80 is that of token 20: NaN there must show from token 20 on and nowhere before.
    for (std::int64_t i = 0; i < 64; ++i) {
      problem.cached_values[std::size_t(80 * 64 + i)] = kNan;
      problem.key_values[std::size_t((128 + 80) * 64 + i)] = kNan;
    }
    const auto marked = problem.run(stream);
    for (std::size_t i = 0; i < clean.size(); ++i) {
      const std::size_t token = i / (6 * 64);
      if (token < 20) {
        ASSERT_EQ(marked[i], clean[i]) << device << " token " << token;
      } else {
        ASSERT_TRUE(std::isnan(marked[i])) << device << " token " << token;
      }
    }
  }
}

// On cpu a query's bits do not depend on what is computed beside it, nor on the threads.
TEST(Attention, CpuRowsDoNotDependOnTheBatchOrTheThreads) {
  const Stream stream(Device::cpu());
  for (const std::int64_t length : {20, 300, 700}) {
    const Problem all({20, 2, 6, 2, 64, length, 1024});
    const auto whole = all.run(stream);
    set_thread_count(1);
    const auto alone = all.run(stream);
    set_thread_count(2);
    EXPECT_EQ(whole, alone);
    Problem one = all;
    one.q_values.assign(all.q_values.begin() + 25 * 384, all.q_values.begin() + 26 * 384);
    one.positions = {all.positions[25]};
    one.sequences = {all.sequences[25]};
    const auto row = one.run(stream);
    for (std::size_t i = 0; i < row.size(); ++i) ASSERT_EQ(row[i], whole[25 * 384 + i]) << length;
  }
}

TEST(Attention, RunsAreBitwiseEqual) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const Problem problem({3, 1, 9, 3, 64, 2000, 2048});
    EXPECT_EQ(problem.run(stream), problem.run(stream)) << device;
  }
}

TEST(Attention, RefusesWhatItDoesNotTake) {
  const Stream stream(Device::cpu());
  const auto zeros = [&](const Shape& shape, DType dtype = DType::f32) {
    return Tensor::zeros(shape, dtype, stream);
  };
  const Tensor q = zeros({2, 4, 64}), cache = zeros({1, 2, 8, 64}), places = zeros({2}, DType::i32);
  const auto refuse = [&](const Tensor& query, const KeyValueCache& kv, const Tensor& positions,
                          const AttentionOptions& options, const char* part) {
    const std::string message =
        failure_of([&] { attention_into(q, query, kv, positions, places, options, stream); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refuse(zeros({2, 4, 32}), {cache, cache}, places, {},
         "attention: q: got f32 [2, 4, 32] on cpu; takes the cache's head_dim, 64");
  refuse(zeros({2, 3, 64}), {cache, cache}, places, {}, "a multiple of the cache's 2 kv_heads");
  refuse(q, {zeros({1, 2, 8, 24}), zeros({1, 2, 8, 24})}, places, {}, "a head_dim of 32 to 256");
  refuse(q, {cache, zeros({1, 2, 8, 64}, DType::f16)}, places, {},
         "attention: cache.values: got f16");
  refuse(q, {cache, cache}, zeros({3}, DType::i32), {}, "attention: positions: got i32 [3]");
  AttentionOptions options;
  options.scale = kNan;
  refuse(q, {cache, cache}, places, options, "attention: scale: got nan");
}

}  // namespace
}  // namespace tilewright
