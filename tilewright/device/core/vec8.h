// SPDX-License-Identifier: Apache-2.0
// Eight neighbouring elements of any storage type as the eight values that a thread computes with:
// one 16-byte access of 16-bit types, two of 32-bit types, single accesses when not aligned.
#pragma once

#include "tilewright/device/core/types.h"

namespace tilewright {

inline constexpr int kVec8 = 8;

// What arithmetic on a stored type is done in.
template <class T>
struct ComputeTypeOf {
  using type = float;
};
template <>
struct ComputeTypeOf<int32_t> {
  using type = int32_t;
};
template <class T>
using ComputeType = typename ComputeTypeOf<T>::type;

template <class T>
TW_DEVICE ComputeType<T> load_value(const T* source) {
  return to_float(*source);
}
template <>
TW_DEVICE int32_t load_value<int32_t>(const int32_t* source) {
  return *source;
}
template <class T>
TW_DEVICE void store_value(T* target, float value) {
  *target = from_float<T>(value);
}
TW_DEVICE void store_value(int32_t* target, int32_t value) { *target = value; }

template <class C>
struct Vec8 {
  C value[kVec8];
};

struct alignas(16) Raw16 {
  uint32_t word[4];
};

namespace detail {

template <class T>
TW_DEVICE T from_bits16(uint32_t bits) {
  T value;
  value.bits = uint16_t(bits);
  return value;
}

template <class T>
TW_DEVICE void unpack16(const Raw16& raw, float* value) {
  TW_UNROLL
  for (int i = 0; i < 4; ++i) {
    value[2 * i] = to_float(from_bits16<T>(raw.word[i] & 0xffffu));
    value[2 * i + 1] = to_float(from_bits16<T>(raw.word[i] >> 16));
  }
}

template <class T>
TW_DEVICE Raw16 pack16(const float* value) {
  Raw16 raw;
  TW_UNROLL
  for (int i = 0; i < 4; ++i) {
    raw.word[i] = uint32_t(from_float<T>(value[2 * i]).bits) |
                  uint32_t(from_float<T>(value[2 * i + 1]).bits) << 16;
  }
  return raw;
}

// Through 4-byte integers, so that every 32-bit type is one pair of 16-byte accesses.
TW_DEVICE float bits_to(uint32_t bits, float) { return bits_float(bits); }
TW_DEVICE int32_t bits_to(uint32_t bits, int32_t) { return int32_t(bits); }
TW_DEVICE uint32_t bits_of(float value) { return float_bits(value); }
TW_DEVICE uint32_t bits_of(int32_t value) { return uint32_t(value); }

}  // namespace detail

// Whether load8 and store8 at multiples of eight elements may use 16-byte accesses.
TW_DEVICE bool aligned16(const void* pointer) {
  return (reinterpret_cast<uint64_t>(pointer) & 15u) == 0;
}

// `source` is aligned to 16 bytes.
template <class T>
TW_DEVICE Vec8<ComputeType<T>> load8(const T* source) {
  Vec8<ComputeType<T>> result;
  const Raw16* raw = reinterpret_cast<const Raw16*>(source);
  if constexpr (sizeof(T) == 2) {
    detail::unpack16<T>(raw[0], result.value);
  } else {
    const Raw16 halves[2] = {raw[0], raw[1]};
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) {
      result.value[i] = detail::bits_to(halves[i / 4].word[i % 4], ComputeType<T>());
    }
  }
  return result;
}

template <class T>
TW_DEVICE void store8(T* target, const Vec8<ComputeType<T>>& source) {
  Raw16* raw = reinterpret_cast<Raw16*>(target);
  if constexpr (sizeof(T) == 2) {
    raw[0] = detail::pack16<T>(source.value);
  } else {
    Raw16 halves[2];
    TW_UNROLL
    for (int i = 0; i < kVec8; ++i) halves[i / 4].word[i % 4] = detail::bits_of(source.value[i]);
    raw[0] = halves[0];
    raw[1] = halves[1];
  }
}

// Elements past `count` (which may be 0 or less) read as `fill` and are not touched.
template <class T>
TW_DEVICE Vec8<ComputeType<T>> load8(const T* source, int64_t count, bool aligned,
                                     ComputeType<T> fill = 0) {
  if (aligned && count >= kVec8) return load8(source);
  Vec8<ComputeType<T>> result;
  TW_UNROLL
  for (int i = 0; i < kVec8; ++i) result.value[i] = i < count ? load_value(source + i) : fill;
  return result;
}

template <class T>
TW_DEVICE void store8(T* target, int64_t count, bool aligned, const Vec8<ComputeType<T>>& source) {
  if (aligned && count >= kVec8) return store8(target, source);
  TW_UNROLL
  for (int i = 0; i < kVec8; ++i) {
    if (i < count) store_value(target + i, source.value[i]);
  }
}

}  // namespace tilewright
