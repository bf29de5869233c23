// SPDX-License-Identifier: Apache-2.0
// The kernels of linear for every instruction set that this processor has, on numbers at the ends
// of their ranges.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "tilewright/base/dtype.h"
#include "tilewright/ops/_core/blocks.h"
#include "tilewright/ops/linear/linear_tables.h"

namespace tilewright {
namespace {

constexpr double kFloatEps = 1.0 / (1 << 24);

struct Kernels {
  Isa isa;
  const LinearBlockTable* block;
  const LinearPlainTable* plain;
  const LinearRowTable* row;
};

std::vector<Kernels> all_kernels() {
  std::vector<Kernels> found{{Isa::kBaseline, &baseline::linear_block_table(),
                              &baseline::linear_plain_table(), &baseline::linear_row_table()}};
#if defined(__x86_64__)
  if (cpu_isa() >= Isa::kAvx2)
    found.push_back({Isa::kAvx2, &avx2::linear_block_table(), &avx2::linear_plain_table(),
                     &avx2::linear_row_table()});
  if (cpu_isa() >= Isa::kAvx512)
    found.push_back({Isa::kAvx512, &avx512::linear_block_table(), &avx512::linear_plain_table(),
                     &avx512::linear_row_table()});
#endif
  return found;
}

struct Rounded {
  std::vector<std::int8_t> q;
  std::vector<std::int16_t> words;
  std::vector<float> scale, offset;
  std::vector<std::int32_t> total;
  RoundedX x;

  Rounded(std::int64_t tokens, std::int64_t k, bool sixteen_bit)
      : q(std::size_t(tokens * k)),
        words(q.size()),
        scale(q.size() / 32),
        offset(scale.size()),
        total(scale.size()) {
    x = {sixteen_bit ? nullptr : q.data(),
         words.data(),
         scale.data(),
         offset.data(),
         total.data(),
         k};
  }

  int at(std::size_t i) const { return words[i / 32 * 32 + i % 2 * 16 + i % 32 / 2]; }
};

struct Scratch {
  explicit Scratch(std::int64_t bytes)
      : memory(static_cast<char*>(std::aligned_alloc(64, std::size_t(bytes + 64) / 64 * 64)),
               std::free) {}
  std::unique_ptr<char, void (*)(void*)> memory;
};

// 16 rows of random bytes, a third of them at an end of the range, with finite scales.
std::vector<unsigned char> random_rows(DType dtype, std::int64_t k, std::mt19937& random) {
  const DTypeInfo& type = info(dtype);
  std::vector<unsigned char> rows(16 * bytes_of(dtype, k));
  constexpr unsigned char kEnds[] = {0x00, 0xff, 0x7f, 0x80, 0x88};
  for (unsigned char& byte : rows)
    byte = random() % 3 == 0 ? kEnds[random() % 5] : static_cast<unsigned char>(random());
  for (std::size_t at = 0; at < rows.size(); at += std::size_t(type.bytes)) {
    const std::size_t d = at + (dtype == DType::q6_k ? 208 : 0);
    rows[d + 1] = static_cast<unsigned char>(0x20 + random() % 8);  // 2^-8 to 2^-6
    if (dtype == DType::q4_1) rows[d + 3] = static_cast<unsigned char>(0xa0 + random() % 8);
  }
  return rows;
}

double minimum_of(const unsigned char* row, std::int64_t block) {
  float minimum;
  dequantize_row(DType::f16, row + block * 20 + 2, &minimum, 1);
  return double(minimum);
}

void check_blocks(const Kernels& kernels, DType dtype, LinearBlockFormat format,
                  std::int64_t tokens, bool sixteen_bit) {
  SCOPED_TRACE(testing::Message() << name(kernels.isa) << ' ' << dtype << ' ' << tokens
                                  << (sixteen_bit ? " 16-bit" : " 8-bit"));
  constexpr std::int64_t kDepth = 1280;
  std::mt19937 random(11);
  const std::vector<unsigned char> rows = random_rows(dtype, kDepth, random);
  std::vector<float> x(std::size_t(tokens * kDepth));
  for (float& v : x) v = random() % 3 == 0 ? 2.0f : float(random() % 4001) * 1e-3f - 2;
  Rounded rounded(tokens, kDepth, sixteen_bit);
  for (std::int64_t t = 0; t < tokens; ++t) kernels.row->round(x.data() + t * kDepth, t, rounded.x);
  const Scratch scratch(kernels.block->scratch_bytes);
  std::vector<float> out(std::size_t(tokens * 16), NAN);
  const std::int64_t row_bytes = std::int64_t(bytes_of(dtype, kDepth));
  kernels.block->multiply(format, {rows.data(), row_bytes}, rounded.x, 0, tokens, out.data(),
                          scratch.memory.get());
  std::vector<float> w(kDepth);
  for (std::int64_t r = 0; r < 16; ++r) {
    dequantize_row(dtype, rows.data() + r * row_bytes, w.data(), kDepth);
    for (std::int64_t t = 0; t < tokens; ++t) {
      double sum = 0, magnitude = 0;
      for (std::int64_t i = 0; i < kDepth; ++i) {
        const std::size_t at = std::size_t(t * kDepth + i);
        const double scale = double(rounded.scale[at / 32]), value = rounded.at(at) * scale;
        // In units of the scale; a scale rounded to f16 adds 127 / 2^11.
        ASSERT_LE(std::abs(double(x[at]) - value), scale * (sixteen_bit ? 0.502 : 0.565));
        double minimum = 0;
        if (dtype == DType::q4_1) {
          minimum = minimum_of(rows.data() + r * row_bytes, i / 32);
          if (i % 32 == 0) sum += minimum * double(rounded.offset[at / 32]);
        }
        sum += value * (double(w[std::size_t(i)]) - minimum);
        magnitude += std::fabs(value) * 3;  // |w| < 1 plus what its offset and rest may cancel
      }
      ASSERT_NEAR(out[std::size_t(t * 16 + r)], sum, magnitude * kFloatEps * (kDepth / 32 + 8))
          << "row " << r << " token " << t;
    }
  }
}

TEST(LinearIsa, BlockProductsAreExactUpToFloatSums) {
  for (const Kernels& kernels : all_kernels())
    for (const std::int64_t tokens : {1, 2, 3, 4, 8, 13})
      for (const bool sixteen_bit : {false, true}) {
        check_blocks(kernels, DType::q8_0, LinearBlockFormat::kQ8_0, tokens, sixteen_bit);
        check_blocks(kernels, DType::q4_0, LinearBlockFormat::kQ4_0, tokens, sixteen_bit);
        check_blocks(kernels, DType::q4_1, LinearBlockFormat::kQ4_1, tokens, sixteen_bit);
        check_blocks(kernels, DType::q6_k, LinearBlockFormat::kQ6K, tokens, sixteen_bit);
      }
}

void check_plain(const Kernels& kernels, DType dtype, LinearPlainFormat format, std::int64_t k,
                 std::int64_t tokens) {
  SCOPED_TRACE(testing::Message() << name(kernels.isa) << ' ' << dtype << ' ' << k);
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> values(std::size_t(16 * k)), x(std::size_t(tokens * k));
  for (float& v : values) v = normal(random);
  for (float& v : x) v = normal(random);
  const std::int64_t row_bytes = std::int64_t(bytes_of(dtype, k));
  std::vector<unsigned char> rows(std::size_t(16 * row_bytes));
  for (int r = 0; r < 16; ++r)
    quantize_row(dtype, values.data() + r * k, rows.data() + r * row_bytes, k);
  const Scratch scratch(kernels.plain->scratch_bytes);
  std::vector<float> out(std::size_t(tokens * 16), NAN), w(std::size_t(k) + 1);
  kernels.plain->multiply(format, {rows.data(), row_bytes}, x.data(), k, k, tokens, out.data(),
                          scratch.memory.get());
  for (std::int64_t r = 0; r < 16; ++r) {
    dequantize_row(dtype, rows.data() + r * row_bytes, w.data(), k);
    for (std::int64_t t = 0; t < tokens; ++t) {
      double sum = 0, magnitude = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        const double term = double(w[std::size_t(i)]) * double(x[std::size_t(t * k + i)]);
        sum += term;
        magnitude += std::fabs(term);
      }
      const double terms = std::min<double>(double(k), 256) + double(k) / 256 + 1;
      ASSERT_NEAR(out[std::size_t(t * 16 + r)], sum, magnitude * kFloatEps * terms)
          << "row " << r << " token " << t;
    }
  }
}

TEST(LinearIsa, PlainProducts) {
  for (const Kernels& kernels : all_kernels())
    for (const std::int64_t k : {1, 8, 31, 256, 257, 700})
      for (const std::int64_t tokens : {1, 4, 7}) {
        check_plain(kernels, DType::f32, LinearPlainFormat::kF32, k, tokens);
        check_plain(kernels, DType::f16, LinearPlainFormat::kF16, k, tokens);
        check_plain(kernels, DType::bf16, LinearPlainFormat::kBf16, k, tokens);
      }
}

TEST(LinearIsa, RoundingKeepsItsPromises) {
  for (const Kernels& kernels : all_kernels())
    for (const bool sixteen_bit : {false, true}) {
      SCOPED_TRACE(testing::Message() << name(kernels.isa) << (sixteen_bit ? " 16-bit" : " 8-bit"));
      const int levels = sixteen_bit ? 16256 : 127;
      std::vector<float> x(160, 0);
      for (int i = 0; i < 32; ++i) x[std::size_t(i)] = float(i - 16);  // block 0
      x[32 + 5] = INFINITY;                                            // block 1
      x[64 + 31] = NAN;                                                // block 2
      x[96 + 1] = 1e-39f;                                              // block 3; block 4 is zero
      Rounded rounded(1, 160, sixteen_bit);
      kernels.row->round(x.data(), 0, rounded.x);
      std::int32_t total = 0;
      for (std::size_t i = 0; i < 32; ++i) {
        const int q = int(std::nearbyint((double(i) - 16) * levels / 16));
        EXPECT_EQ(rounded.at(i), q) << i;
        if (!sixteen_bit) {
          EXPECT_EQ(rounded.q[i], q) << i;
        }
        total += q;
      }
      EXPECT_EQ(rounded.total[0], total);
      const float relative = sixteen_bit ? 1e-6f : 1.0f / 2048;
      EXPECT_NEAR(rounded.scale[0], 16.0f / float(levels), 16.0f / float(levels) * relative);
      EXPECT_NEAR(rounded.offset[0], -16.0f, 16 * (relative + 0.5f / float(levels)));
      EXPECT_TRUE(std::isnan(rounded.scale[1]) && std::isnan(rounded.offset[2]));
      EXPECT_EQ(rounded.scale[3], 0.0f);
      EXPECT_EQ(rounded.scale[4], 0.0f);
      EXPECT_EQ(rounded.total[4], 0);
    }
}

// Scales of 8-bit blocks are f16 numbers as hardware rounds them, but never infinite.
TEST(LinearIsa, EightBitScalesAreHalves) {
  std::mt19937 random(3);
  for (const Kernels& kernels : all_kernels()) {
    SCOPED_TRACE(name(kernels.isa));
    for (int exponent = -33; exponent < 20; ++exponent) {
      std::vector<float> x(32);
      for (float& v : x) v = std::ldexp(float(random() % 20001) * 1e-4f - 1, exponent + 7);
      x[7] = std::ldexp(1 + float(random() % 4096) / 4096, exponent + 7);
      Rounded rounded(1, 32, false);
      kernels.row->round(x.data(), 0, rounded.x);
      const float wanted[] = {x[7] / 127, x[7] / 127 * float(rounded.total[0])};
      const float got[] = {rounded.scale[0], rounded.offset[0]};
      for (int i = 0; i < 2; ++i) {
        std::uint16_t bits;
        float half;
        quantize_row(DType::f16, &wanted[i], &bits, 1);
        dequantize_row(DType::f16, &bits, &half, 1);
        EXPECT_EQ(got[i], std::isinf(half) ? wanted[i] : half) << wanted[i];
      }
    }
  }
}

TEST(LinearIsa, NormAndGate) {
  for (const Kernels& kernels : all_kernels()) {
    SCOPED_TRACE(name(kernels.isa));
    std::vector<float> x(77), w(77), out(77);
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = float(i) * 0.3f - 9;
      w[i] = 2 - float(i) * 0.01f;
      squares += double(x[i]) * double(x[i]);
    }
    kernels.row->rms_norm(x.data(), w.data(), 0.5f, out.data(), 77);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double y = double(x[i]) / std::sqrt(squares / 77 + 0.5) * double(w[i]);
      EXPECT_NEAR(out[i], y, std::fabs(y) * kFloatEps * 24);
    }
    kernels.row->silu_mul(x.data(), w.data(), out.data(), 77);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double y = double(x[i]) / (1 + std::exp(-double(x[i]))) * double(w[i]);
      EXPECT_NEAR(out[i], y, std::fabs(y) * kFloatEps * 12);
    }
  }
}

}  // namespace
}  // namespace tilewright
