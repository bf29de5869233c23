// SPDX-License-Identifier: Apache-2.0
// What the attention kernels share: which entries a token sees, access to operands whose type is
// read at run time, and the state of an online softmax (Milakov and Gimelshein, 2018).
#pragma once

#include "tilewright/device/collective/reduce.h"
#include "tilewright/device/core/vec8.h"
#include "tilewright/device/ptx/memory.h"
#include "tilewright/ops/attention/attention_args.h"

namespace tilewright {

inline constexpr float kLog2E = 1.4426950408889634f;

// Entries 0 ... n - 1 of its sequence are seen by a token.
TW_DEVICE int64_t visible_entries(const AttentionArgs& args, int64_t position, int64_t sequence) {
  if (position < 0 || sequence < 0 || sequence >= args.sequence_count) return 0;
  const int64_t seen = args.causal ? position + 1 : args.capacity;
  return seen < args.capacity ? seen : args.capacity;
}
TW_DEVICE int64_t visible_entries(const AttentionArgs& args, int64_t token) {
  return visible_entries(args, args.positions[token], args.sequences[token]);
}

TW_DEVICE float load_any(const void* base, int64_t at, StorageType type) {
  if (type == kStorageBf16) return to_float(static_cast<const bf16*>(base)[at]);
  if (type == kStorageF16) return to_float(static_cast<const half*>(base)[at]);
  return static_cast<const float*>(base)[at];
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

// Eight elements as they are stored: several reads are in flight before the first is widened.
template <class T>
struct Stored8 {
  Raw16 part[sizeof(T) * kVec8 / sizeof(Raw16)];
};

// `source` is aligned to 16 bytes. The compiler does not move these reads down to their first use.
template <class T>
TW_DEVICE Stored8<T> read8(const T* source) {
  const Raw16* raw = reinterpret_cast<const Raw16*>(source);
  Stored8<T> stored;
  TW_UNROLL
  for (int i = 0; i < int(sizeof(T)) / 2; ++i) {
    const ptx::Word4 word = ptx::ld_global_cg(raw + i);
    TW_UNROLL
    for (int j = 0; j < 4; ++j) stored.part[i].word[j] = word.word[j];
  }
  return stored;
}

// Zeros where not valid, whatever was read.
template <class T>
TW_DEVICE Vec8<float> widen8(Stored8<T> stored, bool valid) {
  TW_UNROLL
  for (Raw16& part : stored.part) {
    TW_UNROLL
    for (uint32_t& word : part.word) word = valid ? word : 0u;
  }
  Vec8<float> result;
  if constexpr (sizeof(T) == 2) {
    detail::unpack16<T>(stored.part[0], result.value);
  } else {
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) {
      result.value[i] = detail::bits_float(stored.part[i / 4].word[i % 4]);
    }
  }
  return result;
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

TW_DEVICE void write_output(const AttentionArgs& args, int64_t token, int64_t head, int64_t at,
                            float output, float sum) {
  store_any(args.out, token * args.out_token_stride + head * args.out_head_stride + at,
            args.out_type, output * softmax_inverse(sum));
}

// Where a part of a head's result lies in the workspace: maximum, sum, output[head_dim].
TW_DEVICE float* workspace_part(const AttentionArgs& args, int64_t token, int64_t head, int parts,
                                int part) {
  return args.workspace + ((token * args.heads + head) * parts + part) * (args.head_dim + 2);
}

}  // namespace tilewright
