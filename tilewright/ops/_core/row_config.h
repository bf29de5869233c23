// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tilewright/device/core/storage.h"
#include "tilewright/ops/_core/kernel_names.h"

namespace tilewright {

// Threads and vectors of eight for a row; see rows.cuh. Depends on the row's length alone, so that
// sums have one order whatever the number of rows.
struct RowConfig {
  int lanes, vecs;
  int rows_per_block() const { return lanes == 32 ? 4 : 1; }
  int threads() const { return lanes * rows_per_block(); }
};

inline constexpr RowConfig kRowConfigs[] = {{32, 1},  {128, 1},  {256, 1}, {256, 2},
                                            {512, 2}, {1024, 2}, {1024, 0}};

inline RowConfig row_config(std::int64_t cols) {
  for (const RowConfig& config : kRowConfigs) {
    if (config.vecs > 0 && cols <= std::int64_t(config.lanes) * config.vecs * 8) return config;
  }
  return {1024, 0};
}

inline LaunchShape row_shape(const RowConfig& config, std::int64_t rows, const char* op) {
  return row_of_blocks(ceil_div(rows, config.rows_per_block()), config.threads(), op);
}

inline StorageType storage_type(DType dtype) {
  switch (dtype) {
    case DType::f32: return kStorageF32;
    case DType::f16: return kStorageF16;
    case DType::bf16: return kStorageBf16;
    default: TW_FAIL(Unsupported, "cuda: no kernel reads ", name(dtype), " here");
  }
}

}  // namespace tilewright
