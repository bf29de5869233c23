// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/embedding/embedding.h"

#include "tilewright/base/error.h"
#include "tilewright/ops/_core/blocks.h"
#include "tilewright/ops/_core/check.h"
#include "tilewright/ops/_core/host_work.h"
#include "tilewright/ops/embedding/embedding_cpu.h"
#include "tilewright/ops/embedding/embedding_cuda.h"

namespace tilewright {
namespace {

constexpr const char* kOp = "embedding";

std::int64_t row_bytes(const Tensor& table) {
  const DTypeInfo& type = info(table.dtype());
  return row_stride(table) / type.block * type.bytes;
}

EmbeddingArgs checked_args(const Tensor& y, const Tensor& table, const Tensor& ids,
                           const Stream& stream) {
  check(kOp, "table", table)
      .on(stream)
      .rank(2)
      .rows_contiguous()
      .that(is_row_type(table.dtype()), "dtype f32, f16, bf16, q8_0, q4_0, q4_1, q6_k");
  check(kOp, "ids", ids).on(stream).rank(1).dtype({DType::i32}).contiguous();
  check(kOp, "y", y)
      .on(stream)
      .floating()
      .shape({ids.size(0), table.size(1)})
      .rows_contiguous()
      .writable();
  EmbeddingArgs args{};
  args.table = table.data();
  args.ids = ids.data_as<const std::int32_t>();
  args.y = y.data();
  args.tokens = ids.size(0);
  args.vocab = table.size(0);
  args.dim = table.size(1);
  args.table_row_bytes = row_bytes(table);
  args.y_stride = row_stride(y);
  return args;
}

}  // namespace

void embedding_into(const Tensor& y, const Tensor& table, const Tensor& ids, const Stream& stream) {
  const EmbeddingArgs args = checked_args(y, table, ids, stream);
  if (y.numel() == 0) return;
  const DType in = table.dtype(), out = y.dtype();
  if (stream.device().is_cuda()) return embedding_cuda(args, in, out, stream);
  if (!stream.device().is_cpu()) fail_device(kOp, stream);
  run_host(stream, [=] { embedding_cpu(args, in, out); }, y, table, ids);
}

Tensor embedding(const Tensor& table, const Tensor& ids, DType dtype, const Stream& stream) {
  check(kOp, "table", table).rank(2);
  check(kOp, "ids", ids).rank(1);
  Tensor y = Tensor::empty({ids.size(0), table.size(1)}, dtype, stream);
  embedding_into(y, table, ids, stream);
  return y;
}

}  // namespace tilewright
