// SPDX-License-Identifier: Apache-2.0
// What the case list of linear does not reach: the choice of kernels (no GPU needed), deep rows in
// several passes, chains in graphs, the same bits from run to run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "tilewright/device/core/types.h"
#include "tilewright/harness/compare.h"
#include "tilewright/ops/_core/blocks.h"
#include "tilewright/ops/_core/row_config.h"
#include "tilewright/ops/linear/linear.h"
#include "tilewright/ops/linear/linear_cuda.h"
#include "tilewright/ops/linear/linear_ref.h"
#include "tilewright/runtime/graph.h"

namespace tilewright {
namespace {

constexpr DType kWeights[] = {DType::f32,  DType::f16,  DType::bf16, DType::q8_0,
                              DType::q4_0, DType::q4_1, DType::q6_k};
constexpr DType kReals[] = {DType::f32, DType::f16, DType::bf16};

LinearArgs shape_args(std::int64_t m, std::int64_t n, std::int64_t k, StorageType x, bool norm) {
  static const float weight = 0;
  LinearArgs args{};
  args.m = int(m);
  args.rows = n;
  args.k = k;
  args.x_type = x;
  args.x_stride = k;
  args.norm_weight = norm ? &weight : nullptr;
  return args;
}

TEST(LinearConfig, FitsEveryShape) {
  std::set<std::string> listed;
  for (const KernelSpec& kernel : linear_manifest()) listed.insert(kernel.expression);
  const LinearGpu gpu;
  for (const DType weight : kWeights) {
    if (weight == DType::f32) continue;
    for (const std::int64_t k : {256, 576, 2048, 4096, 14336, 53248}) {
      if (k % info(weight).block != 0) continue;
      for (const std::int64_t n : {1, 100, 4096, 128256}) {
        for (std::int64_t m = 1; m <= kFewRows; ++m) {
          for (const StorageType x : {kStorageF32, kStorageF16, kStorageBf16}) {
            for (const bool norm : {false, true}) {
              LinearArgs args = shape_args(m, n, k, x, norm);
              const StreamConfig config = stream_config(args, weight, gpu);
              SCOPED_TRACE(str(name(weight), " m ", m, " n ", n, " k ", k));
              EXPECT_LE(config.shared_bytes, gpu.shared_bytes);
              EXPECT_GE(config.stages, 2);
              EXPECT_LE(config.planes * m, config.groups * 8);
              EXPECT_TRUE(config.pass_units * 32 >= k ||
                          config.pass_units % config.stage_units == 0);
              EXPECT_TRUE(listed.count(config.kernel(weight))) << config.kernel(weight);
              EXPECT_LE(config.blocks, n);
            }
          }
        }
      }
    }
  }
}

TEST(LinearConfig, KeepsLoadsInFlight) {
  // At least 64 KB of ring saturate the memory.
  for (const DType weight : {DType::bf16, DType::q8_0, DType::q4_0}) {
    for (const std::int64_t k : {2048, 4096, 14336}) {
      LinearArgs args = shape_args(1, 4096, k, kStorageBf16, false);
      const StreamConfig config = stream_config(args, weight, {});
      const std::int64_t stage = 16 * std::int64_t(bytes_of(weight, config.stage_units * 32));
      EXPECT_GE(config.stages * stage, 64 * 1024);
      EXPECT_GE(config.stages, 2);
      EXPECT_LE(config.shared_bytes, LinearGpu{}.shared_bytes);
    }
  }
}

TEST(LinearConfig, DirectTakesOneAlignedRow) {
  LinearArgs args = shape_args(1, 4096, 4096, kStorageBf16, false);
  EXPECT_TRUE(direct_possible(args, 1, DType::bf16, {}));
  EXPECT_TRUE(direct_possible(args, 1, DType::f16, {}));
  EXPECT_FALSE(direct_possible(args, 1, DType::q8_0, {}));
  EXPECT_FALSE(direct_possible(args, 1, DType::bf16, {.arch = 75}));
  const DirectConfig config = direct_config(args, DType::bf16, {});
  EXPECT_EQ(config.blocks, 2 * LinearGpu{}.multiprocessors);
  EXPECT_TRUE(config.exact);
  EXPECT_FALSE(config.float_x);
  EXPECT_TRUE(direct_config(args, DType::f16, {}).float_x);  // x is bf16
  args.m = 2;
  EXPECT_FALSE(direct_possible(args, 1, DType::bf16, {}));
  args.m = 1;
  args.k = 4092;
  EXPECT_FALSE(direct_possible(args, 1, DType::bf16, {}));
  args.k = 4096;
  args.part[0].row_bytes = 8200;
  EXPECT_FALSE(direct_possible(args, 1, DType::bf16, {}));
}

TEST(LinearConfig, RefusesWhatTheStreamCannotRead) {
  LinearArgs args = shape_args(1, 64, 4096, kStorageBf16, false);
  EXPECT_TRUE(stream_possible(args, 1, DType::bf16, {}));
  EXPECT_FALSE(stream_possible(args, 1, DType::f32, {}));
  EXPECT_FALSE(stream_possible(args, 1, DType::bf16, {.arch = 80}));
  args.k = 4095;
  EXPECT_FALSE(stream_possible(args, 1, DType::bf16, {}));
  args.k = 4096;
  args.part[0].row_bytes = 8200;
  EXPECT_FALSE(stream_possible(args, 1, DType::bf16, {}));
  args.part[0].row_bytes = 2306;
  EXPECT_TRUE(stream_possible(args, 1, DType::q4_0, {}));
  args.part[0].data = reinterpret_cast<const void*>(1);
  EXPECT_FALSE(stream_possible(args, 1, DType::q4_0, {}));
}

// --- on a GPU --------------------------------------------------------------------------------

std::mt19937& random_source() {
  static std::mt19937 source(std::random_device{}());
  return source;
}

std::vector<float> noise(std::int64_t count, float scale) {
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(std::size_t(count), 0.0f);
  for (float& value : values) value = normal(random_source());
  return values;
}

// A tensor of stored values, and what they are as floats.
struct Stored {
  Tensor tensor;
  std::vector<float> values;

  Stored() = default;
  Stored(const Shape& shape, DType dtype, float scale, const Stream& stream) {
    const std::int64_t cols = shape[-1], rows = element_count(shape) / cols;
    const std::size_t row = bytes_of(dtype, cols);
    values = noise(rows * cols, scale);
    std::vector<unsigned char> bytes(row * std::size_t(rows));
    for (std::int64_t r = 0; r < rows; ++r) {
      quantize_row(dtype, values.data() + r * cols, bytes.data() + std::size_t(r) * row, cols);
      dequantize_row(dtype, bytes.data() + std::size_t(r) * row, values.data() + r * cols, cols);
    }
    tensor = Tensor::from_host(bytes.data(), shape, dtype, stream);
    stream.synchronize();
  }
};

std::vector<double> read(const Tensor& tensor, const Stream& stream) {
  std::vector<unsigned char> bytes(tensor.bytes());
  tensor.to_host(bytes.data(), stream);
  std::vector<float> values(std::size_t(tensor.numel()));
  dequantize_row(tensor.dtype(), bytes.data(), values.data(), tensor.numel());
  return {values.begin(), values.end()};
}

struct Trial {
  std::int64_t m, k;
  std::vector<std::int64_t> rows;
  DType weight, x, y;
  bool norm, residual, silu;

  std::string describe() const {
    return str(m, "x", k, " rows ", rows[0], " x", rows.size(), " ", name(weight), " x ", name(x),
               " y ", name(y), norm ? " norm" : "", residual ? " residual" : "",
               silu ? " silu" : "");
  }
};

struct Trialed {
  Trial trial;
  Stream stream{Device::cuda()};
  Stored x, norm, residual;
  std::vector<Stored> weights;
  std::vector<Tensor> tensors;
  LinearOptions options;
  std::int64_t n = 0;

  explicit Trialed(const Trial& t) : trial(t) {
    x = Stored({t.m, t.k}, t.x, 1, stream);
    for (const std::int64_t rows : t.rows) {
      weights.emplace_back(Shape{rows, t.k}, t.weight, 0.1f, stream);
      tensors.push_back(weights.back().tensor);
      n += rows;
    }
    if (t.silu) n /= 2;
    options.silu_pairs = t.silu;
    if (t.norm) {
      norm = Stored({t.k}, DType::f32, 1, stream);
      options.norm_weight = norm.tensor;
      options.norm_eps = 1e-5f;
    }
    if (t.residual) {
      residual = Stored({t.m, n}, t.y, 1, stream);
      options.residual = residual.tensor;
    }
  }

  std::vector<double> run() const {
    const Tensor y = Tensor::empty({trial.m, n}, trial.y, stream);
    fill_bytes(y.data(), stream.device(), 0xff, y.bytes(), stream);  // NaN
    linear_into(y, x.tensor, tensors, options, stream);
    return read(y, stream);
  }

  // How far a result may be off: the reference's bound, what x loses when it is normalised, and
  // the rounding of y; many rows round the parts of a pair, or before the residual, to y's type.
  void expect_right(const std::vector<double>& got) const {
    ref::LinearProblem problem;
    problem.m = trial.m, problem.k = trial.k, problem.x = x.values;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      problem.weights.push_back({weights[i].values, trial.rows[i], is_block_type(trial.weight)});
    }
    problem.norm_weight = norm.values, problem.norm_eps = options.norm_eps;
    problem.residual = residual.values, problem.silu_pairs = trial.silu;
    const ref::LinearExpected expected = ref::linear(problem);
    const bool many = trial.m > kFewRows;
    const double x_loss = !trial.norm ? 0 : many && trial.weight != DType::f32 ? 1.0 / 256 : 2e-5;
    const double spread = 0.1 * std::sqrt(double(trial.k));  // of a product
    const double loss = 8 * x_loss * spread * (trial.silu ? 6 * spread : 1);
    std::int64_t bad = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double size = std::fabs(expected.y[i]) + (trial.silu ? spread * spread : spread);
      const double rounding = epsilon(trial.y) * (many ? 4 * size : std::fabs(expected.y[i]));
      const double allowed = 2 * expected.bound[i] + loss + rounding + 1e-6;
      if (std::fabs(got[i] - expected.y[i]) <= allowed) continue;
      if (bad++ < 3) {
        ADD_FAILURE() << trial.describe() << " [" << i << "]: got " << got[i] << ", expected "
                      << expected.y[i] << " within " << allowed;
      }
    }
    EXPECT_EQ(bad, 0) << trial.describe();
  }
};

bool no_gpu() { return device_count(DeviceKind::kCuda) == 0; }

TEST(LinearCuda, EveryRowCountAndDType) {
  if (no_gpu()) GTEST_SKIP() << "no GPU";
  int turn = 0;
  for (const DType weight : kWeights) {
    for (const std::int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 64}) {
      ++turn;
      const Trialed t({m,
                       512,
                       {37, 50},
                       weight,
                       kReals[turn % 3],
                       kReals[turn / 3 % 3],
                       turn % 2 == 0,
                       turn % 5 == 0,
                       false});
      t.expect_right(t.run());
    }
  }
}

TEST(LinearCuda, DeepRowsInSeveralPasses) {
  if (no_gpu()) GTEST_SKIP() << "no GPU";
  for (const DType weight : kWeights) {
    for (const std::int64_t m : {1, 8, 16}) {
      const Trialed plain({m, 14336, {150}, weight, DType::bf16, DType::f32, false, true, false});
      plain.expect_right(plain.run());
      const Trialed pairs(
          {m, 12288, {140, 140}, weight, DType::f32, DType::f32, true, false, true});
      pairs.expect_right(pairs.run());
    }
  }
}

TEST(LinearCuda, RowsThatStartAnywhere) {
  if (no_gpu()) GTEST_SKIP() << "no GPU";
  // 576 elements: rows of 324 to 612 bytes, at every even or fourth byte of 16.
  for (const DType weight : {DType::q8_0, DType::q4_0, DType::q4_1, DType::bf16}) {
    const Trialed t({3, 576, {301}, weight, DType::bf16, DType::f32, false, false, false});
    t.expect_right(t.run());
  }
}

TEST(LinearCuda, SameBitsFromRunToRun) {
  if (no_gpu()) GTEST_SKIP() << "no GPU";
  for (const DType weight : {DType::bf16, DType::q4_1}) {
    const Trialed t({4, 4096, {3000}, weight, DType::bf16, DType::f32, true, false, false});
    const std::vector<double> first = t.run();
    for (int i = 0; i < 20; ++i) ASSERT_EQ(t.run(), first);
  }
}

// y of one product is x of the next, so a kernel that reads x too early gets it wrong.
TEST(LinearCuda, ChainsInGraphsKeepTheirOrder) {
  if (no_gpu()) GTEST_SKIP() << "no GPU";
  const Stream stream(Device::cuda());
  const std::int64_t k = 2048;
  std::vector<Stored> weights;
  for (int i = 0; i < 8; ++i) weights.emplace_back(Shape{k, k}, DType::bf16, 0.02f, stream);
  const Stored x({1, k}, DType::f32, 1, stream);
  const Tensor buffers[2] = {Tensor::empty({1, k}, DType::f32, stream),
                             Tensor::empty({1, k}, DType::f32, stream)};
  const auto chain = [&](bool synchronise) {
    copy(buffers[0], x.tensor, stream);
    for (int i = 0; i < 32; ++i) {
      linear_into(buffers[(i + 1) % 2], buffers[i % 2], weights[std::size_t(i % 8)].tensor, {},
                  stream);
      if (synchronise) stream.synchronize();
    }
  };
  chain(true);
  const std::vector<double> expected = read(buffers[0], stream);
  const Graph graph = Graph::capture(stream, [&] { chain(false); });
  for (int i = 0; i < 50; ++i) {
    fill_bytes(buffers[i % 2].data(), stream.device(), 0xff, buffers[0].bytes(), stream);
    graph.replay(stream);
    ASSERT_EQ(read(buffers[0], stream), expected);
  }
}

}  // namespace
}  // namespace tilewright
