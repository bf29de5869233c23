// SPDX-License-Identifier: Apache-2.0
// What the attention kernels share: which entries a token sees, access to operands whose type is
// read at run time, and the state of an online softmax (Milakov and Gimelshein, 2018).
#pragma once

#include "tilewright/device/collective/reduce.h"
#include "tilewright/device/core/vec8.h"
#include "tilewright/ops/attention/attention_args.h"

namespace tilewright {

inline constexpr float kLog2E = 1.4426950408889634f;

// Entries 0 ... n - 1 of its sequence are seen by a token.
TW_DEVICE int64_t visible_entries(const AttentionArgs& args, int64_t token) {
  const int64_t position = args.positions[token], sequence = args.sequences[token];
  if (position < 0 || sequence < 0 || sequence >= args.sequence_count) return 0;
  const int64_t seen = args.causal ? position + 1 : args.capacity;
  return seen < args.capacity ? seen : args.capacity;
}

TW_DEVICE float load_any(const void* base, int64_t at, StorageType type) {
  if (type == kStorageBf16) return to_float(static_cast<const bf16*>(base)[at]);
  if (type == kStorageF16) return to_float(static_cast<const half*>(base)[at]);
  return static_cast<const float*>(base)[at];
}
template <class T>
TW_DEVICE Vec8<float> load8_as(const void* base, int64_t at) {
  const T* source = static_cast<const T*>(base) + at;
  return load8(source, kVec8, aligned16(source));
}
TW_DEVICE Vec8<float> load8_any(const void* base, int64_t at, StorageType type) {
  if (type == kStorageBf16) return load8_as<bf16>(base, at);
  if (type == kStorageF16) return load8_as<half>(base, at);
  return load8_as<float>(base, at);
}
TW_DEVICE void store_any(void* base, int64_t at, StorageType type, float value) {
  if (type == kStorageBf16) {
    static_cast<bf16*>(base)[at] = from_float<bf16>(value);
  } else if (type == kStorageF16) {
    static_cast<half*>(base)[at] = from_float<half>(value);
  } else {
    static_cast<float*>(base)[at] = value;
  }
}

// 2^x; NaN stays NaN.
TW_DEVICE float exp2_fast(float x) {
#if TW_DEVICE_PASS
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return exp2f(x);
#endif
}

// What is subtracted from scores (in units of log 2) before exp2: of a maximum of -inf, which means
// that nothing was seen, 0, so that exp2(-inf - 0) is 0 and not NaN.
TW_DEVICE float softmax_base(float maximum) { return maximum == minus_infinity() ? 0.0f : maximum; }

// The factor that moves a sum taken over base `from` to the maximum `to`, which is no smaller.
TW_DEVICE float rescale(float from, float to) { return exp2_fast(from - softmax_base(to)); }

// 1 / sum; nothing seen gives 0.
TW_DEVICE float softmax_inverse(float sum) { return sum == 0.0f ? 0.0f : 1.0f / sum; }

}  // namespace tilewright
