// SPDX-License-Identifier: Apache-2.0
// Products of f32, f16 and bf16 weights with float rows. 16 rows of the weight are packed, some
// columns deep, so that a step reads one column of all 16; the same panel serves every token. Each
// output is the sum over panels of sums over their columns in order.
#include "tilewright/ops/_core/simd.h"
#include "tilewright/ops/linear/linear_tables.h"

namespace tilewright {
namespace TW_ISA {
namespace {

using Byte = std::uint8_t;

constexpr std::int64_t kColumns = 256;  // of a panel: 16 KiB
constexpr int kTileTokens = 4;
using Tag = hn::CappedTag<float, 16>;
constexpr std::int64_t kWidth = std::int64_t(hn::MaxLanes(Tag()));
constexpr int kParts = int(16 / kWidth);

struct PlainPanel {
  alignas(64) float columns[kColumns][16];
};

#if defined(__AVX2__)

// kColumns columns of 8 rows: 32 bytes of each row.
template <Storage kStorage>
struct ColumnBlock {
  static constexpr int kColumns = kStorage == Storage::kF32 ? 8 : 16;
  static constexpr std::int64_t kBytes = 32 / kColumns;  // of an element
  __m256 columns[kColumns];
};

// Register j of the result has word j of rows 0..7.
HWY_INLINE void transpose_words(const Byte* from, std::int64_t pitch, __m256 (&w)[8]) {
  __m256 v[8];
  for (int i = 0; i < 4; ++i) {
    // Row i beside row i + 4: the unpacks then leave the rows in order.
    const float* low = reinterpret_cast<const float*>(from + i * pitch);
    const float* high = reinterpret_cast<const float*>(from + (i + 4) * pitch);
    v[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
    v[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low + 4)),
                                    _mm_loadu_ps(high + 4), 1);
  }
  for (int half = 0; half < 8; half += 4) {
    const __m256 a = _mm256_unpacklo_ps(v[half], v[half + 1]);
    const __m256 b = _mm256_unpacklo_ps(v[half + 2], v[half + 3]);
    const __m256 c = _mm256_unpackhi_ps(v[half], v[half + 1]);
    const __m256 d = _mm256_unpackhi_ps(v[half + 2], v[half + 3]);
    w[half] = _mm256_shuffle_ps(a, b, 0x44);
    w[half + 1] = _mm256_shuffle_ps(a, b, 0xee);
    w[half + 2] = _mm256_shuffle_ps(c, d, 0x44);
    w[half + 3] = _mm256_shuffle_ps(c, d, 0xee);
  }
}

template <Storage kStorage>
HWY_INLINE void load_columns(const Byte* from, std::int64_t pitch, ColumnBlock<kStorage>& to) {
  if constexpr (kStorage == Storage::kF32) {
    transpose_words(from, pitch, to.columns);
  } else {
    __m256 pairs[8];  // two columns a word
    transpose_words(from, pitch, pairs);
    for (int i = 0; i < 8; ++i) {
      const __m256i both = _mm256_castps_si256(pairs[i]);
      if constexpr (kStorage == Storage::kBf16) {
        to.columns[2 * i] = _mm256_castsi256_ps(_mm256_slli_epi32(both, 16));
        to.columns[2 * i + 1] =
            _mm256_castsi256_ps(_mm256_and_si256(both, _mm256_set1_epi32(-65536)));
      } else {
        const __m256i even = _mm256_and_si256(both, _mm256_set1_epi32(0xffff));
        const __m256i sorted =
            _mm256_permute4x64_epi64(_mm256_packus_epi32(even, _mm256_srli_epi32(both, 16)), 0xd8);
        to.columns[2 * i] = _mm256_cvtph_ps(_mm256_castsi256_si128(sorted));
        to.columns[2 * i + 1] = _mm256_cvtph_ps(_mm256_extracti128_si256(sorted, 1));
      }
    }
  }
}

// The `count` columns at the end of the rows, zeros behind them.
template <Storage kStorage>
HWY_INLINE void load_last_columns(const Byte* from, std::int64_t pitch, std::int64_t count,
                                  ColumnBlock<kStorage>& to) {
  alignas(32) Byte padded[8][32] = {};
  for (int row = 0; row < 8; ++row)
    std::memcpy(padded[row], from + row * pitch,
                std::size_t(count * ColumnBlock<kStorage>::kBytes));
  load_columns<kStorage>(padded[0], 32, to);
}

// visit(column, values) for `count` columns of 8 rows.
template <Storage kStorage, class Visit>
HWY_INLINE void visit_8_rows(const Byte* rows, std::int64_t pitch, std::int64_t count,
                             const Visit& visit) {
  using Block = ColumnBlock<kStorage>;
  for (std::int64_t c = 0; c < count; c += Block::kColumns) {
    const std::int64_t here = count - c < Block::kColumns ? count - c : Block::kColumns;
    Block block;
    if (here == Block::kColumns) {
      load_columns<kStorage>(rows + c * Block::kBytes, pitch, block);
      for (int j = 0; j < Block::kColumns; ++j) visit(c + j, block.columns[j]);
    } else {
      load_last_columns<kStorage>(rows + c * Block::kBytes, pitch, here, block);
      for (std::int64_t j = 0; j < here; ++j) visit(c + j, block.columns[j]);
    }
  }
}

// visit(column, half, values) for each column of the panel, for rows 0..7 and 8..15. A cache line
// of 8 rows is used up before the other 8 are touched: rows a power of two apart share one set.
template <Storage kStorage, class Visit>
HWY_INLINE void visit_columns(const LinearGroup& group, std::int64_t first, std::int64_t count,
                              const Visit& visit) {
  constexpr std::int64_t kBytes = ColumnBlock<kStorage>::kBytes, kStep = 64 / kBytes;
  const Byte* rows = static_cast<const Byte*>(group.rows) + first * kBytes;
  for (std::int64_t c = 0; c < count; c += kStep) {
    const std::int64_t here = count - c < kStep ? count - c : kStep;
    for (int half = 0; half < 2; ++half) {
      visit_8_rows<kStorage>(
          rows + half * 8 * group.row_bytes + c * kBytes, group.row_bytes, here,
          [&](std::int64_t column, __m256 values) { visit(c + column, half, values); });
    }
  }
}

template <Storage kStorage>
void pack(const LinearGroup& group, std::int64_t first, std::int64_t count, PlainPanel& panel) {
  visit_columns<kStorage>(group, first, count, [&](std::int64_t c, int half, __m256 values) {
    _mm256_store_ps(panel.columns[c] + half * 8, values);
  });
}

// Fetches what as many columns of the next 16 rows are worth as fill a cache line. Long rows need
// no help: each is a stream of its own.
HWY_INLINE void fetch_next_group(const LinearGroup& group, std::int64_t byte_of_row) {
  constexpr std::int64_t kLongRow = 8192;
  if (group.row_bytes > kLongRow) return;
  const char* next = static_cast<const char*>(group.rows) + 16 * (group.row_bytes + byte_of_row);
  for (int line = 0; line < 16; ++line) _mm_prefetch(next + line * 64, _MM_HINT_T1);
}

// One token: the columns are multiplied as they come, in the same order.
template <Storage kStorage>
HWY_INLINE void multiply_one(const LinearGroup& group, std::int64_t first, std::int64_t count,
                             const float* x, float* out) {
  constexpr std::int64_t kBytes = ColumnBlock<kStorage>::kBytes;
  __m256 sums[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  visit_columns<kStorage>(group, first, count, [&](std::int64_t c, int half, __m256 values) {
    if (half == 0 && c * kBytes % 64 == 0) fetch_next_group(group, (first + c) * kBytes);
    sums[half] = _mm256_fmadd_ps(values, _mm256_set1_ps(x[c]), sums[half]);
  });
  for (int half = 0; half < 2; ++half) {
    float* at = out + half * 8;
    _mm256_storeu_ps(at, _mm256_add_ps(_mm256_loadu_ps(at), sums[half]));
  }
}

#else

template <Storage kStorage>
void pack(const LinearGroup& group, std::int64_t first, std::int64_t count, PlainPanel& panel) {
  alignas(64) float values[kColumns + kLanes];
  for (int row = 0; row < 16; ++row) {
    const Byte* bytes = static_cast<const Byte*>(group.rows) + row * group.row_bytes;
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
      hn::StoreU(load_floats<kStorage>(bytes, first + i), kFloats, values + i);
    if (i < count)
      hn::StoreU(load_some_floats<kStorage>(bytes, first + i, count - i), kFloats, values + i);
    for (i = 0; i < count; ++i) panel.columns[i][row] = values[i];
  }
}

#endif

// out[t] += panel * x[t] for kTokens tokens; x starts at the panel's first column.
template <int kTokens>
void multiply_tile(const PlainPanel& panel, std::int64_t columns, const float* x,
                   std::int64_t x_stride, float* out) {
  const Tag tag;
  hn::Vec<Tag> sums[kTokens][kParts];
  for (auto& row : sums)
    for (auto& part : row) part = hn::Zero(tag);
  for (std::int64_t c = 0; c < columns; ++c) {
    hn::Vec<Tag> w[kParts];
    for (int p = 0; p < kParts; ++p) w[p] = hn::Load(tag, panel.columns[c] + p * kWidth);
    for (int t = 0; t < kTokens; ++t) {
      const auto value = hn::Set(tag, x[t * x_stride + c]);
      for (int p = 0; p < kParts; ++p) sums[t][p] = hn::MulAdd(w[p], value, sums[t][p]);
    }
  }
  for (int t = 0; t < kTokens; ++t) {
    for (int p = 0; p < kParts; ++p) {
      float* at = out + t * 16 + p * kWidth;
      hn::StoreU(hn::Add(hn::LoadU(tag, at), sums[t][p]), tag, at);
    }
  }
}

template <Storage kStorage>
void multiply_format(const LinearGroup& group, const float* x, std::int64_t x_stride,
                     std::int64_t k, std::int64_t tokens, float* out, PlainPanel& panel) {
  __builtin_memset(out, 0, std::size_t(tokens) * 16 * sizeof(float));
  for (std::int64_t first = 0; first < k; first += kColumns) {
    const std::int64_t columns = k - first < kColumns ? k - first : kColumns;
#if defined(__AVX2__)
    if (tokens == 1) {
      multiply_one<kStorage>(group, first, columns, x + first, out);
      continue;
    }
#endif
    pack<kStorage>(group, first, columns, panel);
    std::int64_t t = 0;
    for (; t + kTileTokens <= tokens; t += kTileTokens)
      multiply_tile<kTileTokens>(panel, columns, x + t * x_stride + first, x_stride, out + t * 16);
    for (; t < tokens; ++t)
      multiply_tile<1>(panel, columns, x + t * x_stride + first, x_stride, out + t * 16);
  }
}

void multiply(LinearPlainFormat format, const LinearGroup& group, const float* x,
              std::int64_t x_stride, std::int64_t k, std::int64_t tokens, float* out,
              void* scratch) {
  PlainPanel& panel = *static_cast<PlainPanel*>(scratch);
  switch (format) {
    case LinearPlainFormat::kF32:
      return multiply_format<Storage::kF32>(group, x, x_stride, k, tokens, out, panel);
    case LinearPlainFormat::kF16:
      return multiply_format<Storage::kF16>(group, x, x_stride, k, tokens, out, panel);
    case LinearPlainFormat::kBf16:
      return multiply_format<Storage::kBf16>(group, x, x_stride, k, tokens, out, panel);
  }
}

}  // namespace

const LinearPlainTable& linear_plain_table() {
  static constexpr LinearPlainTable table{sizeof(PlainPanel), multiply};
  return table;
}

}  // namespace TW_ISA
}  // namespace tilewright
