// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright {

struct EmbeddingArgs {
  const void* table;   // [vocab, dim], plain or GGUF blocks
  const int32_t* ids;  // [tokens], contiguous
  void* y;             // [tokens, dim]
  int64_t tokens, vocab, dim;
  int64_t table_row_bytes;  // from a row to the next; bytes, since blocks have no element address
  int64_t y_stride;         // in elements
};

}  // namespace tilewright
