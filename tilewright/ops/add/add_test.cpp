// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/add/add.h"

#include <limits>

#include "tilewright/harness/failure.h"
#include "tilewright/harness/row_op_internal.h"
#include "tilewright/ops/add/add_cases.h"
#include "tilewright/ops/add/add_ref.h"

namespace tilewright {
namespace {

// One float32 addition of values up to 4, rounded once more to the result's dtype.
Tolerance bounds_of(DType out) { return {0.5 * epsilon(out) + 0x1p-24, 0x1p-25}; }

TEST(Add, MatchesTheReference) {
  for (const DType second : {DType::f32, DType::f16}) {
    check_rows(
        add_cases(),
        [&](RowsRun& r) {
          const Guarded b({r.one.rows, r.one.cols}, second, r.one.layout,
                          random_floats(r.one.rows * r.one.cols, 60), r.stream);
          add_into(r.y.tensor(), r.x.tensor(), b.tensor(), r.stream);
          r.stream.synchronize();
        },
        [&](RowsRun& r) {
          const auto b = rounded(random_floats(r.one.rows * r.one.cols, 60), second);
          return ref::add(r.input, {r.one.rows, r.one.cols}, b, {r.one.rows, r.one.cols},
                          {r.one.rows, r.one.cols});
        },
        [](const RowsCase& one) { return bounds_of(one.out); });
  }
}

struct Broadcast {
  Shape a, b, y;
};

TEST(Add, BroadcastsAsNumpyDoes) {
  const Broadcast cases[] = {{{3, 5}, {5}, {3, 5}},
                             {{5}, {3, 5}, {3, 5}},
                             {{3, 1}, {1, 5}, {3, 5}},
                             {{}, {3, 5}, {3, 5}},
                             {{4, 1, 7}, {2, 1}, {4, 2, 7}},
                             {{2, 3, 4, 5}, {3, 1, 5}, {2, 3, 4, 5}},
                             {{1}, {1}, {1}},
                             {{}, {}, {}},
                             {{0, 3}, {1, 3}, {0, 3}},
                             {{300, 1}, {1, 1100}, {300, 1100}}};
  for (const Device device : test_devices()) {
    const Stream stream(device);
    for (const Broadcast& one : cases) {
      SCOPED_TRACE(str(one.a, " + ", one.b, " on ", device));
      const auto a = random_floats(element_count(one.a), 1),
                 b = random_floats(element_count(one.b), 2);
      const Tensor y = add(tensor_of(a, one.a, DType::f32, stream),
                           tensor_of(b, one.b, DType::f32, stream), stream);
      ASSERT_EQ(y.shape(), one.y);
      const auto expected =
          ref::add(rounded(a, DType::f32), one.a, rounded(b, DType::f32), one.b, one.y);
      const auto result = compare(values_of(y, stream), expected, one.y, bounds_of(DType::f32));
      EXPECT_TRUE(result.ok) << result.message;
    }
  }
}

TEST(Add, TransposedAndSliced) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const Tensor x = tensor_of(random_floats(64 * 48, 3), {64, 48}, DType::f32, stream);
    const Tensor a = x.transpose(0, 1).slice(1, 0, 64, 2), b = x.slice(0, 0, 48).slice(1, 0, 32);
    const Guarded y({48, 32}, DType::f16, Layout::kStrided, stream);
    add_into(y.tensor(), a, b, stream);
    auto expected = values_of(a, stream);
    const auto other = values_of(b, stream);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += other[i];
    const auto result = compare(y.values(stream), expected, {48, 32}, bounds_of(DType::f16));
    EXPECT_TRUE(result.ok) << device << ": " << result.message;
    EXPECT_EQ(y.damaged_bytes(stream), 0);
  }
}

TEST(Add, IntegersWrap) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const Tensor a = tensor_of(std::vector<std::int32_t>{1, kMost, kLeast, -7, 16777217}, stream);
    const Tensor b = tensor_of(std::vector<std::int32_t>{2, 1, -1, 7, 1}, stream);
    const auto y = values_of(add(a, b, stream), stream);
    EXPECT_EQ(y, (std::vector<double>{3, double(kLeast), double(kMost), 0, 16777218})) << device;
  }
}

TEST(Add, WorksInPlaceAndPassesNan) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    const Tensor a =
        tensor_of({1, std::numeric_limits<float>::quiet_NaN(), 3}, {3}, DType::f32, stream);
    add_into(a, a, a, stream);
    const auto result =
        compare(values_of(a, stream), {2, std::numeric_limits<double>::quiet_NaN(), 6}, {3}, {});
    EXPECT_TRUE(result.ok) << device << ": " << result.message;
  }
}

TEST(Add, RefusesWhatItDoesNotTake) {
  const Stream stream(Device::cpu());
  const Tensor f = Tensor::zeros({2, 4}, DType::f32, stream);
  const Tensor i = Tensor::zeros({2, 4}, DType::i32, stream);
  const auto refuse = [&](const Tensor& y, const Tensor& a, const Tensor& b, const char* part) {
    const std::string message = failure_of([&] { add_into(y, a, b, stream); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refuse(f, f, i, "add: b: got i32 [2, 4] on cpu; takes dtype f32, f16, bf16");
  refuse(f, i, i, "add: y: got f32 [2, 4] on cpu; takes dtype i32");
  refuse(f, Tensor::zeros({2, 4}, DType::i64, stream), f, "add: a: got i64");
  refuse(f, f, Tensor::zeros({3}, DType::f32, stream),
         "got an operand of shape [3] for a result of shape [2, 4]");
  refuse(f, Tensor::zeros({1, 2, 4}, DType::f32, stream), f, "shape [1, 2, 4]");
  const std::string message =
      failure_of([&] { add(f, Tensor::zeros({3, 4}, DType::f32, stream), stream); });
  EXPECT_NE(message.find("add: got shapes [2, 4] and [3, 4]"), std::string::npos) << message;
}

}  // namespace
}  // namespace tilewright
