// SPDX-License-Identifier: Apache-2.0
// Products of block weights, as stored, with x rounded to integers. One token: the rows go straight
// through registers. More tokens: 16 rows are packed once in the first-level cache for all of them.
// Both add, for each output, block after block: d * scale * (integer sum), then m * offset.
#include "tilewright/ops/linear/linear_formats_simd.h"
#include "tilewright/ops/linear/linear_scalar_simd.h"

namespace tilewright {
namespace TW_ISA {
namespace {

#if defined(__AVX2__)

// The bytes of the next 8 rows, or of some rows after them when rows are short, are fetched while
// 8 rows are multiplied: to the first-level cache if they leave room there.
constexpr std::int64_t kLeastAhead = 4096, kMostAheadInFirstLevel = 24 << 10;

TW_INLINE void fetch_ahead(const Byte* from, std::int64_t bytes, bool near) {
  for (std::int64_t line = 0; line < bytes; line += 64) {
    const char* at = reinterpret_cast<const char*>(from + line);
    if (near) {
      _mm_prefetch(at, _MM_HINT_T0);
    } else {
      _mm_prefetch(at, _MM_HINT_T1);
    }
  }
}

// q: x's row, of 8 bits or 16 (as RoundedX::words).
template <class Format, class Element>
void multiply_8_rows(const Byte* rows, std::int64_t pitch, const Element* q, const RoundedX& x,
                     std::int64_t token, float* out) {
  const std::int64_t blocks = x.k / kLinearBlock;
  const std::int64_t at = token * blocks;
  const std::int64_t distance = 8 * pitch > kLeastAhead ? 8 * pitch : kLeastAhead;
  const bool near = distance <= kMostAheadInFirstLevel;
  const Byte* ahead = rows + distance;
  __m256 sums = _mm256_setzero_ps();
  ScalePair d{};
  for (std::int64_t b = 0; b < blocks; ++b) {
    const int run = int(b % Format::kRuns);
    const Byte* block = rows + b / Format::kRuns * Format::kBytes;
    if (run == 0) {
      fetch_ahead(ahead, 8 * Format::kBytes, near);
      ahead += 8 * Format::kBytes;
      d = Format::scales(block, pitch);
    }
    __m256i ints = Format::dot(block, pitch, run, q + b * kLinearBlock);
    if constexpr (Format::kZero != 0)
      ints = _mm256_sub_epi32(ints, _mm256_set1_epi32(Format::kZero * x.total[at + b]));
    const __m256 scale = _mm256_mul_ps(d.scale, _mm256_set1_ps(x.scale[at + b]));
    sums = _mm256_fmadd_ps(_mm256_cvtepi32_ps(ints), scale, sums);
    if constexpr (Format::kMinimum)
      sums = _mm256_fmadd_ps(d.minimum, _mm256_set1_ps(x.offset[at + b]), sums);
  }
  _mm256_storeu_ps(out, sums);
}

template <class Format, class Element>
void multiply_one(const LinearGroup& group, const Element* q, const RoundedX& x, std::int64_t token,
                  float* out) {
  const Byte* rows = static_cast<const Byte*>(group.rows);
  multiply_8_rows<Format>(rows, group.row_bytes, q, x, token, out);
  multiply_8_rows<Format>(rows + 8 * group.row_bytes, group.row_bytes, q, x, token, out + 8);
}

template <class Format, int kSteps, int kTokens>
TW_INLINE void tile(const Panel<kSteps>& panel, std::int64_t first, std::int64_t blocks,
                    const RoundedX& x, std::int64_t token, float* out) {
  constexpr bool kBytes = kSteps == 8;
  using Sum = std::conditional_t<kBytes, ByteSum, WordSum>;
  const std::int64_t apart = x.k / kLinearBlock, at = token * apart + first;
  const std::int64_t start = token * x.k + first * kLinearBlock;
  const void* rounded =
      kBytes ? static_cast<const void*>(x.q + start) : static_cast<const void*>(x.words + start);
  multiply_tile<Sum, kTokens, kSteps, Format::kMinimum>(
      panel, blocks, static_cast<const Byte*>(rounded), x.k * (kSteps / 8), x.scale + at,
      x.offset + at, x.total + at, apart, kBytes ? Format::kByteZero : Format::kZero, out);
}

template <class Format, int kSteps>
void multiply_many(const LinearGroup& group, const RoundedX& x, std::int64_t first_token,
                   std::int64_t tokens, float* out, void* scratch) {
  using FormatPanel = Panel<kSteps>;
  FormatPanel& panel = *static_cast<FormatPanel*>(scratch);
  const std::int64_t all = x.k / kLinearBlock;
  const std::int64_t chunks = (all + FormatPanel::kBlocks - 1) / FormatPanel::kBlocks;
  __builtin_memset(out, 0, std::size_t(tokens) * 16 * sizeof(float));
  for (std::int64_t c = 0; c < chunks; ++c) {
    const std::int64_t first = all * c / chunks, blocks = all * (c + 1) / chunks - first;
    for (std::int64_t b = 0; b < blocks; ++b) Format::pack(group, first + b, panel, b);
    std::int64_t t = 0;
    for (; t + kTileTokens <= tokens; t += kTileTokens)
      tile<Format, kSteps, kTileTokens>(panel, first, blocks, x, first_token + t, out + t * 16);
    for (; t + 2 <= tokens; t += 2)
      tile<Format, kSteps, 2>(panel, first, blocks, x, first_token + t, out + t * 16);
    if (t < tokens) tile<Format, kSteps, 1>(panel, first, blocks, x, first_token + t, out + t * 16);
  }
}

template <class Format>
void multiply_format(const LinearGroup& group, const RoundedX& x, std::int64_t first_token,
                     std::int64_t tokens, float* out, void* scratch) {
  if (tokens == 1) {
    if (x.sixteen_bit())
      return multiply_one<Format>(group, x.words + first_token * x.k, x, first_token, out);
    return multiply_one<Format>(group, x.q + first_token * x.k, x, first_token, out);
  }
  if constexpr (Format::kByteZero >= 0) {
    if (!x.sixteen_bit())
      return multiply_many<Format, 8>(group, x, first_token, tokens, out, scratch);
  }
  multiply_many<Format, 16>(group, x, first_token, tokens, out, scratch);
}

bool wants_words(LinearBlockFormat format, std::int64_t tokens) {
  return tokens > 1 && (format == LinearBlockFormat::kQ6K ||
                        (format == LinearBlockFormat::kQ8_0 && kBytesSaturate));
}

constexpr std::int64_t kScratchBytes = sizeof(Panel<8>) > sizeof(Panel<16>) ? sizeof(Panel<8>)
                                                                            : sizeof(Panel<16>);

#else

template <class Format>
void multiply_format(const LinearGroup& group, const RoundedX& x, std::int64_t first_token,
                     std::int64_t tokens, float* out, void*) {
  const std::int64_t blocks = x.k / kLinearBlock;
  __builtin_memset(out, 0, std::size_t(tokens) * 16 * sizeof(float));
  for (int row = 0; row < 16; ++row) {
    const Byte* bytes = static_cast<const Byte*>(group.rows) + row * group.row_bytes;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const PlainBlock block = Format::load(bytes, b);
      for (std::int64_t t = 0; t < tokens; ++t) {
        const std::int64_t at = (first_token + t) * blocks + b;
        const std::int32_t sum = x.sixteen_bit()
                                     ? dot_split(block.values, x.words + at * kLinearBlock)
                                     : dot(block.values, x.q + at * kLinearBlock);
        float& y = out[t * 16 + row];
        y += float(sum) * (block.scale * x.scale[at]);
        y += block.minimum * x.offset[at];
      }
    }
  }
}

bool wants_words(LinearBlockFormat, std::int64_t) { return false; }

constexpr std::int64_t kScratchBytes = 0;

#endif

void multiply(LinearBlockFormat format, const LinearGroup& group, const RoundedX& x,
              std::int64_t first_token, std::int64_t tokens, float* out, void* scratch) {
  switch (format) {
    case LinearBlockFormat::kQ8_0:
      return multiply_format<Q8_0>(group, x, first_token, tokens, out, scratch);
    case LinearBlockFormat::kQ4_0:
      return multiply_format<Q4_0>(group, x, first_token, tokens, out, scratch);
    case LinearBlockFormat::kQ4_1:
      return multiply_format<Q4_1>(group, x, first_token, tokens, out, scratch);
    case LinearBlockFormat::kQ6K:
      return multiply_format<Q6K>(group, x, first_token, tokens, out, scratch);
  }
}

}  // namespace

const LinearBlockTable& linear_block_table() {
  static constexpr LinearBlockTable table{kScratchBytes, wants_words, multiply};
  return table;
}

}  // namespace TW_ISA
}  // namespace tilewright
