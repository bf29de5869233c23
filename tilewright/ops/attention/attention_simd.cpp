// SPDX-License-Identifier: Apache-2.0
// Scores and weighted sums of a tile. A key or value row that is loaded serves up to three queries;
// whatever their number, each query's additions have one order, and all fused ones are explicit.
#include "tilewright/ops/_core/simd.h"
#include "tilewright/ops/attention/attention_table.h"

namespace tilewright::TW_ISA {
namespace {

constexpr float kMinusInfinity = -__builtin_inff();
constexpr std::int64_t kKeys = 4;  // scores that one pass over the queries yields

// Rows as stored, or as floats in scratch: `width` elements of each count.
struct Rows {
  const void* data;
  std::int64_t stride, width;

  template <Storage kStorage>
  const void* row(std::int64_t index) const {
    return static_cast<const char*>(data) + index * stride * (kStorage == Storage::kF32 ? 4 : 2);
  }
};

template <Storage kStorage>
void convert_rows(const void* source, std::int64_t stride, std::int64_t first, std::int64_t count,
                  std::int64_t head_dim, std::int64_t width, float* destination) {
  for (std::int64_t row = 0; row < count; ++row, destination += width) {
    const std::int64_t base = (first + row) * stride;
    std::int64_t i = 0;
    for (; i + kLanes <= head_dim; i += kLanes) {
      hn::StoreU(load_floats<kStorage>(source, base + i), kFloats, destination + i);
    }
    if (i < head_dim) {
      const Floats rest = load_some_floats<kStorage>(source, base + i, head_dim - i);
      hn::StoreU(rest, kFloats, destination + i);
      i += kLanes;
    }
    for (; i < width; i += kLanes) hn::StoreU(hn::Zero(kFloats), kFloats, destination + i);
  }
}

Rows float_rows(const AttentionTile& tile, const void* source, std::int64_t stride,
                std::int64_t first, std::int64_t count, float* scratch) {
  const auto convert = tile.storage == 0   ? convert_rows<Storage::kF32>
                       : tile.storage == 1 ? convert_rows<Storage::kF16>
                                           : convert_rows<Storage::kBf16>;
  convert(source, stride, first, count, tile.head_dim, tile.width, scratch);
  return {scratch, tile.width, tile.width};
}

template <Storage kStorage>
Rows stored_rows(const AttentionTile& tile, const void* source, std::int64_t stride,
                 std::int64_t first) {
  const Rows all = {source, stride, tile.head_dim};
  return {all.row<kStorage>(first), stride, tile.head_dim};
}

// The sums of four vectors' lanes.
HWY_INLINE void store_four_sums(Floats a, Floats b, Floats c, Floats d, float* out) {
  const hn::Repartition<double, FloatTag> pairs;
  const Floats ab = hn::Add(hn::InterleaveLower(kFloats, a, b), hn::InterleaveUpper(kFloats, a, b));
  const Floats cd = hn::Add(hn::InterleaveLower(kFloats, c, d), hn::InterleaveUpper(kFloats, c, d));
  const auto ab2 = hn::BitCast(pairs, ab), cd2 = hn::BitCast(pairs, cd);
  const Floats sums = hn::Add(hn::BitCast(kFloats, hn::InterleaveLower(pairs, ab2, cd2)),
                              hn::BitCast(kFloats, hn::InterleaveUpper(pairs, ab2, cd2)));
  if constexpr (kLanes == 4) {
    hn::StoreU(sums, kFloats, out);
  } else {
    const hn::Half<FloatTag> half;
    const auto folded = hn::Add(hn::UpperHalf(half, sums), hn::LowerHalf(half, sums));
    if constexpr (kLanes == 8) {
      hn::StoreU(folded, half, out);
    } else {
      const hn::Half<hn::Half<FloatTag>> quarter;
      hn::StoreU(hn::Add(hn::UpperHalf(quarter, folded), hn::LowerHalf(quarter, folded)), quarter,
                 out);
    }
  }
}

// scores[r, k] for kRows queries and `count` keys; writes whole groups of kKeys.
template <int kRows, Storage kStorage>
void score_rows(const AttentionTile& tile, std::int64_t row, const Rows& keys, std::int64_t count,
                float* scores) {
  const float* q = tile.q + row * tile.width;
  for (std::int64_t k = 0; k < count; k += kKeys) {
    const void* key[kKeys];
    for (std::int64_t j = 0; j < kKeys; ++j) {
      key[j] = keys.row<kStorage>(k + j < count ? k + j : count - 1);
    }
    Floats sums[kRows][kKeys];
    for (auto& row_sums : sums) {
      for (Floats& sum : row_sums) sum = hn::Zero(kFloats);
    }
    for (std::int64_t i = 0; i < keys.width; i += kLanes) {
      Floats query[kRows];
      for (int r = 0; r < kRows; ++r) query[r] = hn::LoadU(kFloats, q + r * tile.width + i);
      for (std::int64_t j = 0; j < kKeys; ++j) {
        const Floats values = load_floats<kStorage>(key[j], i);
        for (int r = 0; r < kRows; ++r) sums[r][j] = hn::MulAdd(query[r], values, sums[r][j]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      store_four_sums(sums[r][0], sums[r][1], sums[r][2], sums[r][3],
                      scores + r * kAttentionBlock + k);
    }
  }
}

// sums[r, :] = sums[r, :] * factors[r] + weights[r, k] * value[k, :] over k in [begin, end).
template <int kRows, int kVectors, Storage kStorage>
HWY_INLINE void weigh_columns(const Rows& values, std::int64_t column, std::int64_t begin,
                              std::int64_t end, const float* weights, const float* factors,
                              float* sums, std::int64_t width) {
  Floats total[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    const Floats factor = hn::Set(kFloats, factors[r]);
    for (int v = 0; v < kVectors; ++v) {
      const float* old = sums + r * width + column + v * kLanes;
      total[r][v] = hn::Mul(hn::LoadU(kFloats, old), factor);
    }
  }
  for (std::int64_t k = begin; k < end; ++k) {
    const void* value = values.row<kStorage>(k);
    Floats weight[kRows];
    for (int r = 0; r < kRows; ++r) {
      weight[r] = hn::Set(kFloats, weights[r * kAttentionBlock + k]);
    }
    for (int v = 0; v < kVectors; ++v) {
      const Floats loaded = load_floats<kStorage>(value, column + v * kLanes);
      for (int r = 0; r < kRows; ++r) total[r][v] = hn::MulAdd(weight[r], loaded, total[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(total[r][v], kFloats, sums + r * width + column + v * kLanes);
    }
  }
}

template <int kRows, Storage kStorage>
void weigh_rows(const Rows& values, std::int64_t begin, std::int64_t end, const float* weights,
                const float* factors, float* sums, std::int64_t width) {
  std::int64_t column = 0;
  for (; column + 4 * kLanes <= values.width; column += 4 * kLanes) {
    weigh_columns<kRows, 4, kStorage>(values, column, begin, end, weights, factors, sums, width);
  }
  for (; column < values.width; column += kLanes) {
    weigh_columns<kRows, 1, kStorage>(values, column, begin, end, weights, factors, sums, width);
  }
}

HWY_INLINE float exp_one(float x) { return hn::GetLane(exp_floats(hn::Set(kFloats, x))); }
HWY_INLINE float larger(float a, float b) { return a > b ? a : b; }
// What is taken off scores: their maximum, or 0 while nothing but -inf was met.
HWY_INLINE float center_of(float maximum) { return maximum == kMinusInfinity ? 0.0f : maximum; }

// Turns `count` scores into weights against the running maximum; returns the factor of what was
// summed before.
float weights_of_scores(float* scores, std::int64_t count, float* maximum, float* weight) {
  const std::int64_t whole = (count + kLanes - 1) / kLanes * kLanes;
  for (std::int64_t k = count; k < whole; ++k) scores[k] = kMinusInfinity;
  Floats largest = hn::Set(kFloats, kMinusInfinity);
  for (std::int64_t k = 0; k < whole; k += kLanes) {
    largest = hn::Max(largest, hn::LoadU(kFloats, scores + k));
  }
  const float before = *maximum;
  const float now = larger(hn::GetLane(hn::MaxOfLanes(kFloats, largest)), before);
  const Floats center = hn::Set(kFloats, center_of(now));
  Floats sum = hn::Zero(kFloats);
  for (std::int64_t k = 0; k < whole; k += kLanes) {
    const Floats value = exp_floats(hn::Sub(hn::LoadU(kFloats, scores + k), center));
    hn::StoreU(value, kFloats, scores + k);
    sum = hn::Add(sum, value);
  }
  const float factor = exp_one(before - center_of(now));
  *maximum = now;
  *weight = __builtin_fmaf(*weight, factor, hn::GetLane(hn::SumOfLanes(kFloats, sum)));
  return factor;
}

HWY_INLINE std::int64_t seen(std::int64_t limit, std::int64_t first, std::int64_t count) {
  const std::int64_t visible = limit - first;
  return visible < 0 ? 0 : visible > count ? count : visible;
}

// One block of keys for kRows queries: scores, weights, weighted values.
template <int kRows, Storage kStorage>
void attend_rows(const AttentionTile& tile, std::int64_t row, const Rows& keys, const Rows& values,
                 std::int64_t first, std::int64_t count, float* scores,
                 const AttentionPartial& result) {
  std::int64_t counts[kRows], least = count, most = 0;
  for (int r = 0; r < kRows; ++r) {
    counts[r] = seen(tile.limits[row + r], first, count);
    least = counts[r] < least ? counts[r] : least;
    most = counts[r] > most ? counts[r] : most;
  }
  if (most == 0) return;
  score_rows<kRows, kStorage>(tile, row, keys, most, scores);
  float factors[kRows];
  for (int r = 0; r < kRows; ++r) {
    factors[r] = counts[r] == 0
                     ? 1.0f
                     : weights_of_scores(scores + r * kAttentionBlock, counts[r],
                                         &result.maxima[row + r], &result.weights[row + r]);
  }
  float* sums = result.sums + row * tile.width;
  weigh_rows<kRows, kStorage>(values, 0, least, scores, factors, sums, tile.width);
  if (least == most) return;
  // A value past a row's limit is never touched, not even with weight 0: it may be NaN.
  const float one = 1.0f;
  for (int r = 0; r < kRows; ++r) {
    weigh_rows<1, kStorage>(values, least, counts[r], scores + r * kAttentionBlock, &one,
                            sums + r * tile.width, tile.width);
  }
}

template <Storage kStorage>
void attend_all_rows(const AttentionTile& tile, const Rows& keys, const Rows& values,
                     std::int64_t first, std::int64_t count, float* scores,
                     const AttentionPartial& result) {
  std::int64_t row = 0;
  while (row < tile.rows) {
    const std::int64_t left = tile.rows - row;
    if (left >= 3 && left != 4) {
      attend_rows<3, kStorage>(tile, row, keys, values, first, count, scores, result);
      row += 3;
    } else if (left >= 2) {
      attend_rows<2, kStorage>(tile, row, keys, values, first, count, scores, result);
      row += 2;
    } else {
      attend_rows<1, kStorage>(tile, row, keys, values, first, count, scores, result);
      row += 1;
    }
  }
}

template <Storage kStorage>
void attend_stored(const AttentionTile& tile, std::int64_t first, std::int64_t count, float* scores,
                   const AttentionPartial& result) {
  attend_all_rows<kStorage>(tile, stored_rows<kStorage>(tile, tile.keys, tile.key_stride, first),
                            stored_rows<kStorage>(tile, tile.values, tile.value_stride, first),
                            first, count, scores, result);
}

void attend_block(const AttentionTile& tile, std::int64_t first, std::int64_t count,
                  const AttentionPartial& result) {
  float* key_scratch = tile.scratch;
  float* value_scratch = key_scratch + kAttentionBlock * tile.width;
  float* scores = value_scratch + kAttentionBlock * tile.width;
  // Few rows read the cache as it is stored; many are worth a conversion that they share.
  const bool whole = tile.head_dim % kLanes == 0;
  if (whole && tile.storage == 0) {
    return attend_stored<Storage::kF32>(tile, first, count, scores, result);
  }
  if (whole && tile.rows <= 6) {
    return tile.storage == 1 ? attend_stored<Storage::kF16>(tile, first, count, scores, result)
                             : attend_stored<Storage::kBf16>(tile, first, count, scores, result);
  }
  const Rows keys = float_rows(tile, tile.keys, tile.key_stride, first, count, key_scratch);
  const Rows values = float_rows(tile, tile.values, tile.value_stride, first, count, value_scratch);
  attend_all_rows<Storage::kF32>(tile, keys, values, first, count, scores, result);
}

void split(const AttentionTile& tile, std::int64_t begin, std::int64_t end,
           const AttentionPartial& result) {
  for (std::int64_t i = 0; i < tile.rows * tile.width; ++i) result.sums[i] = 0.0f;
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    result.maxima[r] = kMinusInfinity;
    result.weights[r] = 0.0f;
  }
  // Wide heads take half as many keys, so that a block of them stays in the first-level cache.
  const std::int64_t block = tile.width <= 64 ? kAttentionBlock : kAttentionBlock / 2;
  for (std::int64_t first = begin; first < end; first += block) {
    attend_block(tile, first, end - first < block ? end - first : block, result);
  }
}

void merge(const AttentionTile& tile, std::int64_t begin, const AttentionPartial& total,
           const AttentionPartial& later) {
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    if (tile.limits[r] <= begin) continue;
    const float maximum = larger(later.maxima[r], total.maxima[r]);
    const float center = center_of(maximum);
    const float old_factor = exp_one(total.maxima[r] - center);
    const float new_factor = exp_one(later.maxima[r] - center);
    total.maxima[r] = maximum;
    total.weights[r] = __builtin_fmaf(later.weights[r], new_factor, total.weights[r] * old_factor);
    const Floats old_scale = hn::Set(kFloats, old_factor), scale = hn::Set(kFloats, new_factor);
    map_row(total.sums + r * tile.width, total.sums + r * tile.width, later.sums + r * tile.width,
            tile.width, [&](Floats a, Floats b) HWY_ATTR {
              return hn::MulAdd(b, scale, hn::Mul(a, old_scale));
            });
  }
}

void finish(const AttentionTile& tile, const AttentionPartial& total) {
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    const float weight = total.weights[r];
    const Floats factor = hn::Set(kFloats, weight == 0.0f ? 0.0f : 1.0f / weight);
    float* sums = total.sums + r * tile.width;
    map_row(sums, sums, tile.width, [&](Floats value) HWY_ATTR { return hn::Mul(value, factor); });
  }
}

}  // namespace

const AttentionTable& attention_table() {
  static const AttentionTable table = {split, merge, finish};
  return table;
}

}  // namespace tilewright::TW_ISA
