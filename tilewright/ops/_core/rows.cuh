// SPDX-License-Identifier: Apache-2.0
// Rows of which kLanes threads each hold kVecs vectors of eight: vector v of lane t is elements
// 8 * (v * kLanes + t) and on. kVecs = 0: the row does not fit and is read again for each pass.
#pragma once

#include "tilewright/device/collective/reduce.h"
#include "tilewright/device/core/storage.h"
#include "tilewright/device/core/vec8.h"
#include "tilewright/device/ptx/griddepcontrol.h"

namespace tilewright {

using Floats8 = Vec8<float>;

// Rows of a block: warps work alone on short rows.
template <int kLanes>
inline constexpr int kRowsPerBlock = kLanes == 32 ? 4 : 1;
template <int kLanes>
inline constexpr int kRowThreads = kLanes * kRowsPerBlock<kLanes>;

template <int kLanes>
struct RowPosition {
  int64_t row;
  int lane;
};
template <int kLanes>
TW_DEVICE RowPosition<kLanes> row_position() {
  return {int64_t(blockIdx.x) * kRowsPerBlock<kLanes> + threadIdx.x / kLanes,
          int(threadIdx.x % kLanes)};
}

// A row's memory. `aligned`: its vectors start on 16 bytes.
template <class T>
struct Row {
  T* data;
  int64_t cols;
  bool aligned;

  TW_DEVICE Row(T* first, int64_t count) : data(first), cols(count), aligned(aligned16(first)) {}
};

template <class T>
TW_DEVICE Row<T> row_of(void* base, int64_t row, int64_t stride, int64_t cols) {
  return Row<T>(static_cast<T*>(base) + row * stride, cols);
}
template <class T>
TW_DEVICE Row<const T> row_of(const void* base, int64_t row, int64_t stride, int64_t cols) {
  return Row<const T>(static_cast<const T*>(base) + row * stride, cols);
}

template <class T>
TW_DEVICE Floats8 load_at(const Row<const T>& row, int64_t at, float fill = 0) {
  return load8(row.data + at, row.cols - at, row.aligned, fill);
}
template <class T>
TW_DEVICE void store_at(const Row<T>& row, int64_t at, const Floats8& value) {
  store8(row.data + at, row.cols - at, row.aligned, value);
}

// A row of a type known at run time.
struct AnyRow {
  void* data;
  int64_t first, cols;
  int32_t type;

  template <class T>
  TW_DEVICE Row<T> as() const {
    return Row<T>(static_cast<T*>(data) + first, cols);
  }
};
TW_DEVICE AnyRow any_row(const void* base, int64_t row, int64_t stride, int64_t cols,
                         int32_t type) {
  return {const_cast<void*>(base), row * stride, cols, type};
}
TW_DEVICE Floats8 load_at(const AnyRow& row, int64_t at, float fill = 0) {
  if (row.type == kStorageBf16) return load_at(row.as<const bf16>(), at, fill);
  if (row.type == kStorageF16) return load_at(row.as<const half>(), at, fill);
  return load_at(row.as<const float>(), at, fill);
}
TW_DEVICE void store_at(const AnyRow& row, int64_t at, const Floats8& value) {
  if (row.type == kStorageBf16) return store_at(row.as<bf16>(), at, value);
  if (row.type == kStorageF16) return store_at(row.as<half>(), at, value);
  store_at(row.as<float>(), at, value);
}

// Calls work(at, v) for the vectors of a lane.
template <int kLanes, int kVecs, class Work>
TW_DEVICE void for_row_vectors(int lane, int64_t cols, Work work) {
  if constexpr (kVecs > 0) {
    TW_UNROLL
    for (int v = 0; v < kVecs; ++v) {
      const int64_t at = int64_t(v * kLanes + lane) * kVec8;
      if (at < cols) work(at, v);
    }
  } else {
    for (int64_t at = lane * kVec8; at < cols; at += kLanes * kVec8) work(at, 0);
  }
}

}  // namespace tilewright
