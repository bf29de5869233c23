// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tilewright/base/text.h"
#include "tilewright/harness/bench.h"
#include "tilewright/harness/compare.h"
#include "tilewright/harness/failure.h"
#include "tilewright/harness/limits.h"
#include "tilewright/harness/samples.h"

namespace tilewright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Compare, NamesTheWorstElement) {
  const auto result = compare({1, 2, 3.5, 4}, {1, 2.2, 3, 4}, {2, 2}, {0, 0.1});
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.bad, 2);
  EXPECT_EQ(result.worst, 2);
  EXPECT_EQ(result.got, 3.5);
  EXPECT_NE(result.message.find("2 of 4 out of bounds; worst [1, 0]: expected 3, got 3.5"),
            std::string::npos)
      << result.message;
}

TEST(Compare, NanAndInfinityMustMatch) {
  const Tolerance wide = {1, 1e30};
  EXPECT_TRUE(compare({kNan, kInfinity, -kInfinity}, {kNan, kInfinity, -kInfinity}, {3}, {}).ok);
  EXPECT_FALSE(compare({1}, {kNan}, {1}, wide).ok);
  EXPECT_FALSE(compare({kNan}, {1}, {1}, wide).ok);
  EXPECT_FALSE(compare({kInfinity}, {1}, {1}, wide).ok);
  EXPECT_FALSE(compare({kInfinity}, {-kInfinity}, {1}, wide).ok);
  EXPECT_TRUE(compare({}, {}, {0}, {}).ok);
  EXPECT_NE(failure_of([] { compare({1}, {}, {0}, {}); }), "");
}

TEST(Compare, ToleranceFollowsDtypeAndLength) {
  EXPECT_GT(tolerance(DType::bf16).relative, tolerance(DType::f16).relative);
  EXPECT_GT(tolerance(DType::f16).relative, tolerance(DType::f32).relative);
  EXPECT_DOUBLE_EQ(tolerance(DType::f32, 400).absolute, 20 * tolerance(DType::f32, 1).absolute);
  // One unit in the last place of bf16 is refused, half of one passes.
  EXPECT_FALSE(compare({1 + 0x1p-7}, {1}, {1}, tolerance(DType::bf16)).ok);
  EXPECT_TRUE(compare({1 + 0x1p-8}, {1}, {1}, tolerance(DType::bf16)).ok);
}

TEST(Samples, AreTheSameEverywhere) {
  const auto values = random_floats(1000, 3, -2, 5);
  EXPECT_EQ(values, random_floats(1000, 3, -2, 5));
  EXPECT_NE(values, random_floats(1000, 4, -2, 5));
  double sum = 0;
  for (const float value : values) {
    ASSERT_GE(value, -2);
    ASSERT_LT(value, 5);
    sum += double(value);
  }
  EXPECT_NEAR(sum / 1000, 1.5, 0.3);  // deviation of the mean: 7 / sqrt(12 * 1000) = 0.064
}

TEST(Samples, GuardsSeeEveryStrayByte) {
  const Stream stream(Device::cpu());
  for (const Layout layout : kAllLayouts) {
    const Guarded x({3, 5}, DType::f16, layout, random_floats(15, 1), stream);
    EXPECT_EQ(x.damaged_bytes(stream), 0) << name(layout);
    EXPECT_EQ(x.values(stream), rounded(random_floats(15, 1), DType::f16)) << name(layout);
    auto* bytes = x.tensor().data_as<unsigned char>();
    bytes[-1] = 0;
    EXPECT_EQ(x.damaged_bytes(stream), 1) << name(layout);
    if (layout == Layout::kContiguous) continue;
    bytes[5 * 2] = 0;  // the gap after the first row
    EXPECT_EQ(x.damaged_bytes(stream), 2) << name(layout);
  }
  const Guarded empty({2, 2}, DType::f32, Layout::kContiguous, stream);
  for (const double value : empty.values(stream)) EXPECT_TRUE(std::isnan(value));
}

TEST(Cases, AreAProductThatKnowsItsBytes) {
  const auto cases = rows_cases({1, 2}, {3}, kFloatPairs, kAllLayouts);
  EXPECT_EQ(cases.size(), 2u * 6 * 3);
  const RowsCase one{2, 8, DType::f16, DType::f32, Layout::kStrided};
  EXPECT_EQ(one.bytes(), 2u * 8 * (2 + 4));
  EXPECT_EQ(one.describe(), "2x8 f16 to f32, strided");
  EXPECT_TRUE(fits(1 << 20, Device::cpu()));
  EXPECT_FALSE(fits(std::size_t{1} << 31, Device::cpu()));
  EXPECT_TRUE(fits(std::size_t{1} << 31, Device::cuda(0)));
}

TEST(Timing, SummaryTakesTheMedian) {
  const Timing timing = summary({5, 1, 100, 3, 2});
  EXPECT_EQ(timing.median_us, 3);
  EXPECT_EQ(timing.max_us, 100);
  EXPECT_EQ(timing.min_us, 1);
  EXPECT_EQ(timing.samples, 5);
}

TEST(Timing, CallsEveryRotationInTurn) {
  const Stream stream(Device::cpu());
  for (const LaunchMode mode : {LaunchMode::kStream, LaunchMode::kGraph}) {
    std::vector<int> calls(3);
    TimingOptions options;
    options.mode = mode;
    options.warm_up = 0;
    options.repeats = 9;
    const auto call = [&](int i, const Stream& s) {
      s.run([&calls, i] { ++calls[std::size_t(i)]; });
    };
    EXPECT_EQ(time_calls(call, 3, stream, options).samples, 9);
    EXPECT_EQ(calls, (std::vector<int>{3, 3, 3})) << name(mode);
  }
  EXPECT_EQ(rotations_for(std::size_t{1} << 40, Device::cpu()), 1);
  EXPECT_EQ(rotations_for(1, Device::cpu()), 64);
  EXPECT_GT(rotations_for(64 << 20, Device::cpu()) * (64 << 20), 256 << 20);
}

TEST(Bench, SizesAreChecked) {
  EXPECT_EQ(parse_size("16x4096", 2, ""), (std::vector<std::int64_t>{16, 4096}));
  EXPECT_EQ(parse_size("7", 1, ""), (std::vector<std::int64_t>{7}));
  for (const char* bad : {"", "x", "16", "16x", "x16", "16x0", "16x-1", "16x4x5", "16xx4", "16 x4",
                          "1e3x4", "99999999999999999999x4"}) {
    const std::string message = failure_of([&] { parse_size(bad, 2, "rows x cols"); });
    EXPECT_NE(message.find("takes rows x cols"), std::string::npos) << bad << ": " << message;
  }
}

TEST(Bench, RowHasTheFieldsOfTheDesign) {
  const Stream stream(Device::cpu());
  BenchCase one;
  one.op = "copy";
  one.dtype = "f32";
  one.size = "4";
  one.bytes = 1e6;
  one.prepare = [](int, const Stream&) { return [](int, const Stream&) {}; };
  TimingOptions options;
  options.repeats = 5;
  const BenchRow row = measure(one, stream, {2.0}, options);
  EXPECT_NEAR(row.gbps, one.bytes / row.us / 1e3, 1e-9 * row.gbps);
  EXPECT_NEAR(row.frac, row.gbps / 2, 1e-9 * row.frac);
  const std::string json = to_json(row);
  std::size_t at = 0;
  for (const char* field :
       {"op", "variant", "impl", "device", "dtype", "size", "us", "gbps", "tflops", "frac",
        "peak_gbps", "peak_tflops", "mode", "commit", "date"}) {
    at = json.find(str("\"", field, "\":"), at);
    ASSERT_NE(at, std::string::npos) << field << " in " << json;
  }
}

TEST(Limits, CopyAndReadAreMeasured) {
  EXPECT_GT(copy_bandwidth(Device::cpu(), {8 << 20, 3}), 0.05);
  EXPECT_GT(read_bandwidth({8 << 20, 3}), 0.05);
}

}  // namespace
}  // namespace tilewright
