// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tilewright/base/error.h"
#include "tilewright/device/core/types.h"

namespace tilewright {
namespace {

using Byte = std::uint8_t;

template <class T>
T load(const Byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class T>
void store(Byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

float load_half(const Byte* at) { return to_float(load<half>(at)); }

// Stores the nearest half and returns what was stored.
float store_half(Byte* at, float value) {
  const half rounded = from_float<half>(value);
  store(at, rounded);
  return to_float(rounded);
}

int round_clamp(float value, int low, int high) {
  return std::clamp(static_cast<int>(std::nearbyint(value)), low, high);
}

float inverse(float value) { return value != 0 ? 1 / value : 0; }

// The element of largest magnitude, with its sign.
float extreme(const float* values, int count) {
  float found = 0;
  for (int i = 0; i < count; ++i)
    if (std::fabs(values[i]) > std::fabs(found)) found = values[i];
  return found;
}

template <class T>
void decode_plain(const Byte* row, float* out, std::int64_t k) {
  for (std::int64_t i = 0; i < k; ++i) out[i] = to_float(load<T>(row + i * sizeof(T)));
}

template <class T>
void encode_plain(const float* values, Byte* row, std::int64_t k) {
  for (std::int64_t i = 0; i < k; ++i) store(row + i * sizeof(T), from_float<T>(values[i]));
}

void decode_q8_0(const Byte* block, float* out) {
  const float d = load_half(block);
  for (int i = 0; i < 32; ++i) out[i] = d * load<std::int8_t>(block + 2 + i);
}

void encode_q8_0(const float* values, Byte* block) {
  const float d = store_half(block, std::fabs(extreme(values, 32)) / 127);
  for (int i = 0; i < 32; ++i)
    store(block + 2 + i, static_cast<std::int8_t>(round_clamp(values[i] * inverse(d), -127, 127)));
}

void decode_q4_0(const Byte* block, float* out) {
  const float d = load_half(block);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * ((block[2 + i] & 15) - 8);
    out[i + 16] = d * ((block[2 + i] >> 4) - 8);
  }
}

void encode_nibbles(const float* values, Byte* nibbles, float scale, float offset) {
  for (int i = 0; i < 16; ++i) {
    const int low = round_clamp((values[i] - offset) * scale, 0, 15);
    const int high = round_clamp((values[i + 16] - offset) * scale, 0, 15);
    nibbles[i] = static_cast<Byte>(low | high << 4);
  }
}

void encode_q4_0(const float* values, Byte* block) {
  const float d = store_half(block, extreme(values, 32) / -8);
  encode_nibbles(values, block + 2, inverse(d), -8 * d);
}

void decode_q4_1(const Byte* block, float* out) {
  const float d = load_half(block), m = load_half(block + 2);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * (block[4 + i] & 15) + m;
    out[i + 16] = d * (block[4 + i] >> 4) + m;
  }
}

void encode_q4_1(const float* values, Byte* block) {
  const auto [low, high] = std::minmax_element(values, values + 32);
  const float d = store_half(block, (*high - *low) / 15);
  const float m = store_half(block + 2, *low);
  encode_nibbles(values, block + 4, inverse(d), m);
}

// Where element i of a q6_k block lives: each half of 128 elements has four runs of 32, which
// share 64 bytes of low nibbles and 32 bytes of high pairs.
struct Q6Place {
  int low_byte, low_shift, high_byte, high_shift;
};

constexpr int kQ6High = 128, kQ6Scales = 192, kQ6D = 208;

Q6Place q6_place(int i) {
  const int part = i / 128, run = i % 128 / 32, lane = i % 32;
  return {part * 64 + run % 2 * 32 + lane, run / 2 * 4, kQ6High + part * 32 + lane, run * 2};
}

void decode_q6_k(const Byte* block, float* out) {
  const float d = load_half(block + kQ6D);
  for (int i = 0; i < 256; ++i) {
    const Q6Place at = q6_place(i);
    const int low = block[at.low_byte] >> at.low_shift & 15;
    const int high = block[at.high_byte] >> at.high_shift & 3;
    out[i] = d * load<std::int8_t>(block + kQ6Scales + i / 16) * ((low | high << 4) - 32);
  }
}

void encode_q6_k(const float* values, Byte* block) {
  std::memset(block, 0, 210);
  float scales[16];
  for (int s = 0; s < 16; ++s) scales[s] = extreme(values + s * 16, 16) / -32;
  const float d = store_half(block + kQ6D, std::fabs(extreme(scales, 16)) / 127);
  for (int s = 0; s < 16; ++s) {
    const int scale = round_clamp(scales[s] * inverse(d), -127, 127);
    store(block + kQ6Scales + s, static_cast<std::int8_t>(scale));
    for (int i = s * 16; i < s * 16 + 16; ++i) {
      const Q6Place at = q6_place(i);
      const int q = round_clamp(values[i] * inverse(d * scale), -32, 31) + 32;
      block[at.low_byte] |= static_cast<Byte>((q & 15) << at.low_shift);
      block[at.high_byte] |= static_cast<Byte>((q >> 4) << at.high_shift);
    }
  }
}

struct RowCodec {
  int block, bytes;  // 1 element a block: a plain type, whole rows at once
  void (*decode)(const Byte*, float*);
  void (*encode)(const float*, Byte*);
};

RowCodec codec_of(DType dtype) {
  switch (dtype) {
    case DType::q8_0: return {32, 34, decode_q8_0, encode_q8_0};
    case DType::q4_0: return {32, 18, decode_q4_0, encode_q4_0};
    case DType::q4_1: return {32, 20, decode_q4_1, encode_q4_1};
    case DType::q6_k: return {256, 210, decode_q6_k, encode_q6_k};
    default: break;
  }
  TW_FAIL(Unsupported, "rows of ", dtype,
          " cannot be converted; known are f32, f16, bf16, q8_0, q4_0, q4_1, q6_k");
}

void check_blocks(DType dtype, const RowCodec& codec, std::int64_t k) {
  TW_CHECK(k % codec.block == 0, InvalidArgument, "a row of ", k, " elements does not fill whole ",
           dtype, " blocks of ", codec.block);
}

}  // namespace

bool is_row_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::q8_0:
    case DType::q4_0:
    case DType::q4_1:
    case DType::q6_k: return true;
    default: return false;
  }
}

void dequantize_row(DType dtype, const void* row, float* out, std::int64_t k) {
  const Byte* in = static_cast<const Byte*>(row);
  if (dtype == DType::f32) return decode_plain<float>(in, out, k);
  if (dtype == DType::f16) return decode_plain<half>(in, out, k);
  if (dtype == DType::bf16) return decode_plain<bf16>(in, out, k);
  const RowCodec codec = codec_of(dtype);
  check_blocks(dtype, codec, k);
  for (std::int64_t at = 0; at < k; at += codec.block, in += codec.bytes)
    codec.decode(in, out + at);
}

void quantize_row(DType dtype, const float* values, void* row, std::int64_t k) {
  Byte* out = static_cast<Byte*>(row);
  if (dtype == DType::f32) return encode_plain<float>(values, out, k);
  if (dtype == DType::f16) return encode_plain<half>(values, out, k);
  if (dtype == DType::bf16) return encode_plain<bf16>(values, out, k);
  const RowCodec codec = codec_of(dtype);
  check_blocks(dtype, codec, k);
  for (std::int64_t at = 0; at < k; at += codec.block, out += codec.bytes)
    codec.encode(values + at, out);
}

}  // namespace tilewright
