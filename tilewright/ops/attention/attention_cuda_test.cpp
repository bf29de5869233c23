// SPDX-License-Identifier: Apache-2.0
// What the case list of attention does not reach: the choice of kernels (no GPU needed), long
// contexts cut into parts, and one captured launch while the cache fills.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tilewright/harness/compare.h"
#include "tilewright/harness/samples.h"
#include "tilewright/ops/attention/attention.h"
#include "tilewright/ops/attention/attention_config.h"
#include "tilewright/ops/attention/attention_cuda.h"
#include "tilewright/runtime/graph.h"

namespace tilewright {
namespace {

AttentionArgs sizes(std::int64_t tokens, std::int64_t heads, std::int64_t kv_heads,
                    std::int64_t head_dim, std::int64_t capacity) {
  AttentionArgs args{};
  args.tokens = tokens;
  args.heads = heads;
  args.kv_heads = kv_heads;
  args.head_dim = head_dim;
  args.capacity = capacity;
  args.sequence_count = 1;
  return args;
}

TEST(AttentionConfig, FillsTheChipAndNoMore) {
  const AttentionConfig one = attention_config(sizes(1, 32, 8, 128, 4096), true, true);
  EXPECT_TRUE(one.decode);
  EXPECT_TRUE(one.clustered);
  EXPECT_EQ(one.splits, 8);
  EXPECT_EQ(one.team, 16);
  EXPECT_EQ(one.group, 4);
  const AttentionConfig many = attention_config(sizes(16, 32, 8, 128, 4096), true, true);
  EXPECT_EQ(many.splits, 2);
  EXPECT_EQ(attention_config(sizes(1, 32, 8, 128, 16), true, true).splits, 1);
}

TEST(AttentionConfig, CoversEveryHeadDim) {
  for (std::int64_t dim = 32; dim <= 256; dim += 8) {
    const AttentionConfig decode = attention_config(sizes(1, 9, 3, dim, 100), true, true);
    EXPECT_GE(decode.team * 8, dim);
    EXPECT_LT((decode.team - 1) * 4, dim) << "half of the lanes idle";
    const AttentionConfig tiles = attention_config(sizes(100, 9, 3, dim, 100), true, true);
    EXPECT_FALSE(tiles.decode);
    EXPECT_GE(tiles.dim, dim);
  }
}

TEST(AttentionConfig, CoversEveryHead) {
  for (const std::int64_t group : {1, 2, 3, 4, 5, 7, 8, 71}) {
    const AttentionConfig config = attention_config(sizes(1, 2 * group, 2, 64, 64), true, true);
    EXPECT_GE(config.blocks_y * config.group, 2 * group);
    EXPECT_LT(config.blocks_y * config.group, 2 * (group + config.group));
  }
}

TEST(AttentionConfig, PartsFitTheWorkspace) {
  AttentionArgs args = sizes(2, 32, 8, 128, 8192);
  EXPECT_EQ(attention_config(args, true, false).splits, 1) << "there is no workspace";
  args.workspace_floats = 5 * attention_part_floats(2, 32, 128);
  EXPECT_EQ(attention_config(args, true, false).splits, 4);
  EXPECT_FALSE(attention_config(args, true, false).clustered);
  EXPECT_FALSE(attention_config(args, false, false).decode) << "a cache that is not aligned";
}

struct Decode {
  Tensor q, positions, sequences, out;
  KeyValueCache cache;
};

Decode decode_problem(std::int64_t tokens, std::int64_t capacity, const Stream& stream) {
  constexpr std::int64_t kHeads = 32, kKvHeads = 8, kDim = 128;
  const Shape shape{tokens, kKvHeads, capacity, kDim};
  const std::int64_t count = tokens * kKvHeads * capacity * kDim;
  std::vector<std::int32_t> sequences;
  for (std::int64_t t = 0; t < tokens; ++t) sequences.push_back(std::int32_t(t));
  return {tensor_of(random_floats(tokens * kHeads * kDim, 1, -2, 2), {tokens, kHeads, kDim},
                    DType::bf16, stream),
          tensor_of(std::vector<std::int32_t>(std::size_t(tokens), 0), stream),
          tensor_of(sequences, stream),
          Tensor::zeros({tokens, kHeads, kDim}, DType::f32, stream),
          {tensor_of(random_floats(count, 2, -1, 1), shape, DType::bf16, stream),
           tensor_of(random_floats(count, 3, -1, 1), shape, DType::bf16, stream)}};
}

void place(const Decode& problem, std::int32_t position, const Stream& stream) {
  std::vector<std::int32_t> positions;
  for (std::int64_t t = 0; t < problem.q.size(0); ++t) {
    positions.push_back(std::max(0, position - 3 * std::int32_t(t)));
  }
  copy(problem.positions, tensor_of(positions, stream), stream);
}

std::vector<double> eager(const Decode& problem, const Stream& stream) {
  attention_into(problem.out, problem.q, problem.cache, problem.positions, problem.sequences, {},
                 stream);
  return values_of(problem.out, stream);
}

// One captured launch serves every length: the parts are cut on the device.
TEST(AttentionCuda, ReplayFollowsThePositions) {
  if (device_count(DeviceKind::kCuda) == 0) GTEST_SKIP() << "no GPU on this machine";
  const Stream stream(Device::cuda()), host(Device::cpu());
  for (const std::int64_t tokens : {1, 4}) {
    const Decode problem = decode_problem(tokens, 2100, stream);
    const Decode same = decode_problem(tokens, 2100, host);
    eager(problem, stream);  // compiles
    const Graph graph = Graph::capture(stream, [&] {
      attention_into(problem.out, problem.q, problem.cache, problem.positions, problem.sequences,
                     {}, stream);
    });
    for (const std::int32_t position : {0, 1, 7, 15, 63, 64, 200, 1025, 2099}) {
      place(problem, position, stream);
      place(same, position, host);
      graph.replay(stream);
      const auto replayed = values_of(problem.out, stream);
      const auto result = compare(replayed, eager(same, host), problem.out.shape(),
                                  {1e-5, 2e-6 + 2e-7 * std::sqrt(double(position + 1))});
      EXPECT_TRUE(result.ok) << tokens << " tokens at " << position << ": " << result.message;
      EXPECT_EQ(replayed, eager(problem, stream)) << "replay is not eager at " << position;
    }
  }
}

}  // namespace
}  // namespace tilewright
