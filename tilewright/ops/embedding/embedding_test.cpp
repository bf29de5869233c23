// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/embedding/embedding.h"

#include <gtest/gtest.h>

#include <limits>

#include "tilewright/base/text.h"
#include "tilewright/harness/compare.h"
#include "tilewright/harness/failure.h"
#include "tilewright/harness/samples.h"
#include "tilewright/ops/_core/blocks.h"
#include "tilewright/ops/embedding/embedding_cases.h"
#include "tilewright/ops/embedding/embedding_ref.h"

namespace tilewright {
namespace {

constexpr std::int64_t kVocab = 19;

std::vector<std::int32_t> ids_of(std::int64_t tokens) {
  auto ids = random_integers(tokens, 5, 0, kVocab);
  if (tokens > 2) {
    ids[0] = kVocab - 1;
    ids[1] = -1;  // both outside: rows of NaN
    ids[2] = kVocab;
  }
  return ids;
}

TEST(Embedding, MatchesTheReference) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    for (const RowsCase& one : embedding_cases()) {
      SCOPED_TRACE(one.describe() + " on " + to_string(device));
      const auto values = random_floats(kVocab * one.cols, 3, -2, 2);
      const Guarded table({kVocab, one.cols}, one.in, one.layout, values, stream);
      const Guarded y({one.rows, one.cols}, one.out, one.layout, stream);
      const auto ids = ids_of(one.rows);
      const Tensor id_tensor = tensor_of(ids, stream);
      embedding_into(y.tensor(), table.tensor(), id_tensor, stream);
      const auto expected = ref::embedding(rounded(values, one.in), kVocab, one.cols, ids);
      // A copy: only the rounding to the result's dtype remains.
      const Tolerance bounds = {0.5 * epsilon(one.out), one.out == DType::f16 ? 0x1p-25 : 0};
      const auto result = compare(y.values(stream), expected, {one.rows, one.cols}, bounds);
      EXPECT_TRUE(result.ok) << result.message;
      EXPECT_EQ(y.damaged_bytes(stream), 0);
    }
  }
}

TEST(Embedding, ReadsBlockTypesAsStored) {
  constexpr std::int64_t kDim = 512;
  for (const Device device : test_devices()) {
    const Stream stream(device);
    for (const DType type : {DType::q8_0, DType::q4_0, DType::q4_1, DType::q6_k}) {
      SCOPED_TRACE(str(type, " on ", device));
      const std::size_t row_bytes = bytes_of(type, kDim);
      std::vector<std::uint8_t> stored(kVocab * row_bytes);
      std::vector<double> values;
      for (std::int64_t r = 0; r < kVocab; ++r) {
        std::vector<float> row = random_floats(kDim, 40 + std::uint64_t(r), -2, 2);
        std::uint8_t* bytes = stored.data() + std::size_t(r) * row_bytes;
        quantize_row(type, row.data(), bytes, kDim);
        dequantize_row(type, bytes, row.data(), kDim);
        values.insert(values.end(), row.begin(), row.end());
      }
      const Tensor table = Tensor::from_host(stored.data(), {kVocab, kDim}, type, stream);
      const auto ids = ids_of(9);
      for (const DType out : {DType::f32, DType::f16, DType::bf16}) {
        const Tensor y = embedding(table, tensor_of(ids, stream), out, stream);
        const auto expected = ref::embedding(values, kVocab, kDim, ids);
        // Scale times integer plus minimum: two float32 roundings at most.
        const Tolerance bounds = {0.5 * epsilon(out) + 0x1p-23, 0x1p-22};
        const auto result = compare(values_of(y, stream), expected, {9, kDim}, bounds);
        EXPECT_TRUE(result.ok) << out << ": " << result.message;
      }
    }
  }
}

TEST(Embedding, RefusesWhatItDoesNotTake) {
  const Stream stream(Device::cpu());
  const Tensor table = Tensor::zeros({4, 32}, DType::f32, stream);
  const Tensor ids = Tensor::zeros({3}, DType::i32, stream);
  const Tensor y = Tensor::zeros({3, 32}, DType::f32, stream);
  const auto refuse = [&](const Tensor& out, const Tensor& t, const Tensor& i, const char* part) {
    const std::string message = failure_of([&] { embedding_into(out, t, i, stream); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refuse(y, Tensor::zeros({4, 256}, DType::q2_k, stream), ids,
         "embedding: table: got q2_k [4, 256]");
  refuse(y, table, Tensor::zeros({3}, DType::i64, stream),
         "embedding: ids: got i64 [3] on cpu; takes dtype i32");
  refuse(Tensor::zeros({2, 32}, DType::f32, stream), table, ids,
         "embedding: y: got f32 [2, 32] on cpu; takes shape [3, 32]");
  refuse(y, table.view({128}), ids, "takes 2 axes");
}

}  // namespace
}  // namespace tilewright
