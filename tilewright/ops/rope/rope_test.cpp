// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/rope/rope.h"

#include <gtest/gtest.h>

#include <limits>

#include "tilewright/base/text.h"
#include "tilewright/harness/compare.h"
#include "tilewright/harness/failure.h"
#include "tilewright/harness/samples.h"
#include "tilewright/ops/rope/rope_cases.h"
#include "tilewright/ops/rope/rope_ref.h"

namespace tilewright {
namespace {

constexpr std::int64_t kCapacity = 40, kSequences = 3;

// cos, sin and two products of values up to 2, and for 16-bit dtypes the last rounding.
Tolerance bounds_of(DType dtype) { return {0.5 * epsilon(dtype), 2 * 6 * 0x1p-24}; }

std::vector<float> frequencies_of(std::int64_t pairs) {
  return rope_frequencies(2 * pairs, 10000, {});
}

std::string describe(const RopeCase& one, Device device) {
  return str(one.tokens, " tokens, ", one.heads, "/", one.kv_heads, " heads of ", one.head_dim,
             ", ", one.pairs, " pairs, ", one.dtype, " cache ", one.cache,
             one.pairing == RopePairing::kHalfSplit ? " half " : " interleaved ", name(one.layout),
             " on ", device);
}

void check_rope(const RopeCase& one, const Stream& stream) {
  const Shape shape{one.tokens, one.heads, one.head_dim};
  const auto values = random_floats(element_count(shape), 7);
  const Guarded x(shape, one.dtype, one.layout, values, stream);
  const auto positions = random_integers(one.tokens, 8, 0, 5000);
  const auto frequencies = frequencies_of(one.pairs);
  rope_(x.tensor(), tensor_of(positions, stream),
        tensor_of(frequencies, {one.pairs}, DType::f32, stream), one.pairing, stream);
  auto expected = rounded(values, one.dtype);
  for (std::int64_t row = 0; row < one.tokens * one.heads; ++row) {
    ref::rope(expected.data() + row * one.head_dim, positions[std::size_t(row / one.heads)],
              frequencies, one.pairing);
  }
  const auto result = compare(x.values(stream), expected, shape, bounds_of(one.dtype));
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_EQ(x.damaged_bytes(stream), 0);
}

TEST(Rope, MatchesTheReference) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    for (const RopeCase& one : rope_cases()) {
      SCOPED_TRACE(describe(one, device));
      check_rope(one, stream);
    }
  }
}

// What rope_append_ should leave in the cache, NaN where nothing is written.
struct ExpectedCache {
  std::vector<double> keys, values;
};

ExpectedCache append(const RopeCase& one, std::vector<double>& qkv,
                     const std::vector<std::int32_t>& positions,
                     const std::vector<std::int32_t>& sequences) {
  const auto frequencies = frequencies_of(one.pairs);
  const std::int64_t all = one.heads + 2 * one.kv_heads, dim = one.head_dim;
  const auto count = std::size_t(kSequences * one.kv_heads * kCapacity * dim);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ExpectedCache cache{std::vector<double>(count, nan), std::vector<double>(count, nan)};
  for (std::int64_t t = 0; t < one.tokens; ++t) {
    const std::int32_t position = positions[std::size_t(t)], sequence = sequences[std::size_t(t)];
    double* row = qkv.data() + t * all * dim;
    for (std::int64_t h = 0; h < one.heads; ++h) {
      ref::rope(row + h * dim, position, frequencies, one.pairing);
    }
    if (position < 0 || position >= kCapacity || sequence < 0 || sequence >= kSequences) continue;
    for (std::int64_t h = 0; h < one.kv_heads; ++h) {
      const std::int64_t to = ((sequence * one.kv_heads + h) * kCapacity + position) * dim;
      std::vector<double> key(row + (one.heads + h) * dim, row + (one.heads + h + 1) * dim);
      ref::rope(key.data(), position, frequencies, one.pairing);
      const double* value = row + (one.heads + one.kv_heads + h) * dim;
      std::copy(key.begin(), key.end(), cache.keys.begin() + to);
      std::copy(value, value + dim, cache.values.begin() + to);
    }
  }
  return cache;
}

// Different places in the cache for every token, and for some none.
void places(std::int64_t tokens, std::vector<std::int32_t>& positions,
            std::vector<std::int32_t>& sequences) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    positions.push_back(std::int32_t(t / kSequences));
    sequences.push_back(std::int32_t(t % kSequences));
  }
  if (tokens < 5) return;
  positions[1] = -1;
  positions[2] = kCapacity;
  sequences[3] = kSequences;
  sequences[4] = -1;
}

void check_append(const RopeCase& one, const Stream& stream) {
  const std::int64_t width = (one.heads + 2 * one.kv_heads) * one.head_dim;
  const auto values = random_floats(one.tokens * width, 9);
  const Guarded qkv({one.tokens, width}, one.dtype, one.layout, values, stream);
  const Shape cache_shape{kSequences, one.kv_heads, kCapacity, one.head_dim};
  const Guarded keys(cache_shape, one.cache, one.layout, stream);
  const Guarded cached(cache_shape, one.cache, one.layout, stream);
  std::vector<std::int32_t> positions, sequences;
  places(one.tokens, positions, sequences);
  const auto frequencies = frequencies_of(one.pairs);
  Tensor table;  // undefined for no pairs: nothing is rotated
  if (one.pairs > 0) table = tensor_of(frequencies, {one.pairs}, DType::f32, stream);
  rope_append_(qkv.tensor(), {keys.tensor(), cached.tensor()}, tensor_of(positions, stream),
               tensor_of(sequences, stream), table, one.pairing, stream);

  auto expected = rounded(values, one.dtype);
  const ExpectedCache cache = append(one, expected, positions, sequences);
  const auto rotated =
      compare(qkv.values(stream), expected, {one.tokens, width}, bounds_of(one.dtype));
  EXPECT_TRUE(rotated.ok) << "qkv: " << rotated.message;
  const auto key = compare(keys.values(stream), cache.keys, cache_shape, bounds_of(one.cache));
  EXPECT_TRUE(key.ok) << "keys: " << key.message;
  const auto value = compare(cached.values(stream), cache.values, cache_shape,
                             {0.5 * epsilon(one.cache), 0x1p-25});
  EXPECT_TRUE(value.ok) << "values: " << value.message;
  EXPECT_EQ(qkv.damaged_bytes(stream) + keys.damaged_bytes(stream) + cached.damaged_bytes(stream),
            0);
}

TEST(RopeAppend, MatchesTheReference) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    for (const RopeCase& one : rope_cases()) {
      SCOPED_TRACE(describe(one, device));
      check_append(one, stream);
    }
  }
}

TEST(Rope, PositionZeroChangesNothing) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const Tensor x = tensor_of(random_floats(64, 3), {1, 1, 64}, DType::f32, stream);
    const auto before = values_of(x, stream);
    rope_(x, tensor_of(std::vector<std::int32_t>{0}, stream),
          tensor_of(frequencies_of(32), {32}, DType::f32, stream), RopePairing::kHalfSplit, stream);
    EXPECT_EQ(values_of(x, stream), before) << device;
  }
}

TEST(Rope, RefusesWhatItDoesNotTake) {
  const Stream stream(Device::cpu());
  const Tensor x = Tensor::zeros({2, 3, 32}, DType::f32, stream);
  const Tensor positions = Tensor::zeros({2}, DType::i32, stream);
  const Tensor frequencies = Tensor::zeros({16}, DType::f32, stream);
  const auto refuse = [&](const Tensor& in, const Tensor& p, const Tensor& f, const char* part) {
    const std::string message =
        failure_of([&] { rope_(in, p, f, RopePairing::kHalfSplit, stream); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refuse(x, positions, Tensor::zeros({17}, DType::f32, stream),
         "rope: frequencies: got f32 [17] on cpu; takes at most head_dim / 2 = 16 elements");
  refuse(x, Tensor::zeros({3}, DType::i32, stream), frequencies, "rope: positions: got i32 [3]");
  refuse(x, Tensor::zeros({2}, DType::f32, stream), frequencies, "takes dtype i32");
  refuse(Tensor::zeros({2, 3, 32}, DType::i8, stream), positions, frequencies, "rope: x: got i8");
}

TEST(RopeAppend, RefusesWhatItDoesNotTake) {
  const Stream stream(Device::cpu());
  const Tensor cache = Tensor::zeros({1, 2, 8, 32}, DType::f16, stream);
  const Tensor other = Tensor::zeros({1, 2, 9, 32}, DType::f16, stream);
  const Tensor places = Tensor::zeros({3}, DType::i32, stream);
  const auto refuse = [&](const Tensor& qkv, const KeyValueCache& kv, const char* part) {
    const std::string message = failure_of(
        [&] { rope_append_(qkv, kv, places, places, {}, RopePairing::kHalfSplit, stream); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const Tensor qkv = Tensor::zeros({3, 8 * 32}, DType::f32, stream);
  refuse(Tensor::zeros({3, 100}, DType::f32, stream), {cache, cache},
         "rope_append: qkv: got f32 [3, 100] on cpu; takes [tokens, (heads + 2 * kv_heads)");
  refuse(qkv, {cache, other}, "rope_append: cache.values: got f16 [1, 2, 9, 32]");
  refuse(qkv, {cache, Tensor::zeros({1, 2, 8, 32}, DType::f32, stream)}, "takes dtype f16");
  refuse(Tensor::zeros({4, 8 * 32}, DType::f32, stream), {cache, cache}, "takes shape [4]");
}

}  // namespace
}  // namespace tilewright
