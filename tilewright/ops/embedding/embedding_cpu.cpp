// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/embedding/embedding_cpu.h"

#include <algorithm>
#include <limits>

#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/blocks.h"
#include "tilewright/ops/_core/rows.h"

namespace tilewright {
namespace {

void embed_row(const EmbeddingArgs& args, DType table, DType y, std::int64_t token) {
  void* out = at(args.y, token * args.y_stride, y);
  float* values = y == DType::f32 ? static_cast<float*>(out) : thread_scratch(1, args.dim);
  const std::int64_t id = args.ids[token];
  if (id < 0 || id >= args.vocab) {
    std::fill_n(values, args.dim, std::numeric_limits<float>::quiet_NaN());
  } else {
    const char* row = static_cast<const char*>(args.table) + id * args.table_row_bytes;
    if (is_block_type(table)) {
      dequantize_row(table, row, values, args.dim);
    } else {
      read_floats(table, row, values, args.dim);
    }
  }
  write_floats(y, values, out, args.dim);
}

}  // namespace

void embedding_cpu(const EmbeddingArgs& args, DType table, DType y) {
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / args.dim);
  parallel_for(args.tokens, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t token = begin; token < end; ++token) embed_row(args, table, y, token);
  });
}

}  // namespace tilewright
