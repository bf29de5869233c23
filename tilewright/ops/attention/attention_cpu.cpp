// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/attention/attention_cpu.h"

#include <algorithm>
#include <vector>

#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/rows.h"
#include "tilewright/ops/attention/attention_table.h"

namespace tilewright {
namespace {

constexpr std::int64_t kTileRows = 48;  // queries that share each key and value that is loaded

// Neighbouring tokens of one sequence.
struct TokenRun {
  std::int64_t begin, end;
  std::int64_t entries;     // the most that one of them sees
  std::int64_t first_unit;  // number of splits in the runs before it, times kv_heads
};

struct Call {
  const AttentionArgs& args;
  DType q, cache, out;
  std::int64_t group, width;
};

std::int64_t splits_of(std::int64_t entries) {
  return std::max<std::int64_t>(1, (entries + kAttentionSplit - 1) / kAttentionSplit);
}

// Entries of the cache that a token sees.
std::int64_t limit_of(const AttentionArgs& args, std::int64_t token) {
  const std::int64_t position = args.positions[token], sequence = args.sequences[token];
  if (position < 0 || sequence < 0 || sequence >= args.sequence_count) return 0;
  return args.causal != 0 ? std::min(position + 1, args.capacity) : args.capacity;
}

void find_runs(const Call& call, std::vector<TokenRun>& runs) {
  const AttentionArgs& args = call.args;
  const std::int64_t most = std::max<std::int64_t>(1, kTileRows / call.group);
  runs.clear();
  for (std::int64_t token = 0; token < args.tokens; ++token) {
    const bool joins = !runs.empty() && token - runs.back().begin < most &&
                       args.sequences[token] == args.sequences[runs.back().begin];
    if (!joins) runs.push_back({token, token, 0, 0});
    runs.back().end = token + 1;
    runs.back().entries = std::max(runs.back().entries, limit_of(args, token));
  }
  std::int64_t units = 0;
  for (TokenRun& run : runs) {
    run.first_unit = units;
    units += splits_of(run.entries) * args.kv_heads;
  }
}

std::int64_t partial_floats(const Call& call, std::int64_t rows) { return rows * (call.width + 2); }

AttentionPartial partial_at(const Call& call, float* memory, std::int64_t rows) {
  float* maxima = memory + rows * call.width;
  return {memory, maxima, maxima + rows};
}

// A tile in this thread's memory: the scaled queries and their limits.
class Tile {
 public:
  Tile(const Call& call, const TokenRun& run, std::int64_t kv_head)
      : call_(call), run_(run), kv_head_(kv_head) {
    const AttentionArgs& args = call.args;
    tile_.rows = (run.end - run.begin) * call.group;
    tile_.head_dim = args.head_dim;
    tile_.width = call.width;
    const std::int64_t q_floats = tile_.rows * call.width;
    const std::int64_t scratch = attention_scratch_floats(call.width);
    float* memory = thread_scratch(
        1, q_floats + scratch + 2 * partial_floats(call, tile_.rows) + 2 * tile_.rows);
    float* q = memory;
    tile_.q = q;
    tile_.scratch = memory + q_floats;
    partials_ = tile_.scratch + scratch;
    auto* limits =
        reinterpret_cast<std::int64_t*>(partials_ + 2 * partial_floats(call, tile_.rows));
    tile_.limits = limits;
    load_queries(q, limits);
    set_cache();
  }

  const AttentionTile& tile() const { return tile_; }
  AttentionPartial own_partial(int which) const {
    return partial_at(call_, partials_ + which * partial_floats(call_, tile_.rows), tile_.rows);
  }

  void write(const AttentionPartial& total) const {
    attention_table().finish(tile_, total);
    const AttentionArgs& args = call_.args;
    for (std::int64_t r = 0; r < tile_.rows; ++r) {
      const std::int64_t token = run_.begin + r / call_.group;
      const std::int64_t head = kv_head_ * call_.group + r % call_.group;
      void* out =
          at(args.out, token * args.out_token_stride + head * args.out_head_stride, call_.out);
      write_floats(call_.out, total.sums + r * call_.width, out, args.head_dim);
    }
  }

 private:
  void load_queries(float* q, std::int64_t* limits) {
    const AttentionArgs& args = call_.args;
    for (std::int64_t r = 0; r < tile_.rows; ++r, q += call_.width) {
      const std::int64_t token = run_.begin + r / call_.group;
      const std::int64_t head = kv_head_ * call_.group + r % call_.group;
      const void* row =
          at(args.q, token * args.q_token_stride + head * args.q_head_stride, call_.q);
      read_floats(call_.q, row, q, args.head_dim);
      for (std::int64_t i = 0; i < args.head_dim; ++i) q[i] *= args.scale;
      std::fill(q + args.head_dim, q + call_.width, 0.0f);
      limits[r] = limit_of(args, token);
    }
  }

  void set_cache() {
    const AttentionArgs& args = call_.args;
    if (run_.entries == 0) return;  // its sequence may be none
    const std::int64_t sequence = args.sequences[run_.begin];
    tile_.keys =
        at(args.keys, sequence * args.key_sequence_stride + kv_head_ * args.key_head_stride,
           call_.cache);
    tile_.values =
        at(args.values, sequence * args.value_sequence_stride + kv_head_ * args.value_head_stride,
           call_.cache);
    tile_.key_stride = args.key_stride;
    tile_.value_stride = args.value_stride;
    tile_.storage = call_.cache == DType::f32 ? 0 : call_.cache == DType::f16 ? 1 : 2;
  }

  const Call& call_;
  const TokenRun& run_;
  std::int64_t kv_head_;
  AttentionTile tile_{};
  float* partials_;
};

std::int64_t split_end(const TokenRun& run, std::int64_t begin) {
  return std::min(begin + kAttentionSplit, run.entries);
}

// All splits of a tile by one thread.
void attend_whole(const Call& call, const TokenRun& run, std::int64_t kv_head) {
  const Tile tile(call, run, kv_head);
  const AttentionPartial total = tile.own_partial(0), later = tile.own_partial(1);
  attention_table().split(tile.tile(), 0, split_end(run, 0), total);
  for (std::int64_t begin = kAttentionSplit; begin < run.entries; begin += kAttentionSplit) {
    attention_table().split(tile.tile(), begin, split_end(run, begin), later);
    attention_table().merge(tile.tile(), begin, total, later);
  }
  tile.write(total);
}

// Few tiles and long caches: the splits are the parallel work.
void attend_by_splits(const Call& call, const std::vector<TokenRun>& runs) {
  const AttentionArgs& args = call.args;
  const std::int64_t stride = partial_floats(call, std::max<std::int64_t>(kTileRows, call.group));
  const TokenRun& last = runs.back();
  const std::int64_t units = last.first_unit + splits_of(last.entries) * args.kv_heads;
  float* memory = thread_scratch(0, units * stride);
  parallel_for(units, 1, [&](std::int64_t first, std::int64_t past) {
    for (std::int64_t unit = first; unit < past; ++unit) {
      const TokenRun& run = *std::prev(std::upper_bound(
          runs.begin(), runs.end(), unit,
          [](std::int64_t value, const TokenRun& other) { return value < other.first_unit; }));
      const std::int64_t splits = splits_of(run.entries), local = unit - run.first_unit;
      const Tile tile(call, run, local / splits);
      const std::int64_t begin = local % splits * kAttentionSplit;
      attention_table().split(tile.tile(), begin, split_end(run, begin),
                              partial_at(call, memory + unit * stride, tile.tile().rows));
    }
  });
  for (const TokenRun& run : runs) {
    const std::int64_t splits = splits_of(run.entries);
    for (std::int64_t head = 0; head < args.kv_heads; ++head) {
      const Tile tile(call, run, head);
      float* first = memory + (run.first_unit + head * splits) * stride;
      const AttentionPartial total = partial_at(call, first, tile.tile().rows);
      for (std::int64_t s = 1; s < splits; ++s) {
        attention_table().merge(tile.tile(), s * kAttentionSplit, total,
                                partial_at(call, first + s * stride, tile.tile().rows));
      }
      tile.write(total);
    }
  }
}

}  // namespace

void attention_cpu(const AttentionArgs& args, DType q, DType cache, DType out) {
  const Call call = {
      args, q, cache, out, args.heads / args.kv_heads, (args.head_dim + 15) / 16 * 16};
  static thread_local std::vector<TokenRun> runs;
  find_runs(call, runs);
  const std::int64_t tiles = std::int64_t(runs.size()) * args.kv_heads;
  if (tiles < 4 * thread_count() && thread_count() > 1) return attend_by_splits(call, runs);
  const std::vector<TokenRun>& shared = runs;  // the caller's, not each worker's own
  parallel_for(tiles, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      // The longest rows come first, so that the threads end together.
      const std::int64_t tile = tiles - 1 - i;
      attend_whole(call, shared[std::size_t(tile / args.kv_heads)], tile % args.kv_heads);
    }
  });
}

}  // namespace tilewright
