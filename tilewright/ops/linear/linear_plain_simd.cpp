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

template <Storage kStorage>
HWY_INLINE void load_row(const Byte* row, std::int64_t column, std::int64_t count, float* to) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    hn::StoreU(load_floats<kStorage>(row, column + i), kFloats, to + i);
  if (i < count)
    hn::StoreU(load_some_floats<kStorage>(row, column + i, count - i), kFloats, to + i);
}

#if defined(__AVX2__)
HWY_INLINE void transpose_8x8(const float* from, std::int64_t pitch, float* to) {
  __m256 v[8], w[8];
  for (int i = 0; i < 4; ++i) {
    // Row i beside row i + 4: the unpacks then leave the rows in order.
    const __m256 low = _mm256_loadu_ps(from + i * pitch);
    const __m256 high = _mm256_loadu_ps(from + (i + 4) * pitch);
    v[i] = _mm256_permute2f128_ps(low, high, 0x20);
    v[i + 4] = _mm256_permute2f128_ps(low, high, 0x31);
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
  for (int i = 0; i < 8; ++i) _mm256_store_ps(to + i * 16, w[i]);
}
#endif

template <Storage kStorage>
void pack(const LinearGroup& group, std::int64_t first, std::int64_t count, PlainPanel& panel) {
  constexpr std::int64_t kStrip = 32;
  alignas(64) float strip[16][kStrip];
  for (std::int64_t c = 0; c < count; c += kStrip) {
    const std::int64_t here = count - c < kStrip ? count - c : kStrip;
    for (int row = 0; row < 16; ++row) {
      const Byte* bytes = static_cast<const Byte*>(group.rows) + row * group.row_bytes;
      load_row<kStorage>(bytes, first + c, here, strip[row]);
    }
    std::int64_t done = 0;
#if defined(__AVX2__)
    for (; done + 8 <= here; done += 8) {
      transpose_8x8(&strip[0][done], kStrip, panel.columns[c + done]);
      transpose_8x8(&strip[8][done], kStrip, panel.columns[c + done] + 8);
    }
#endif
    for (; done < here; ++done) {
      for (int row = 0; row < 16; ++row) panel.columns[c + done][row] = strip[row][done];
    }
  }
}

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
