// SPDX-License-Identifier: Apache-2.0
// The x side of linear_stream: rows of x, normalised if asked, as columns of tensor-core operands
// in shared memory. A column is one plane of one row: x is split into 1 to 3 terms of the operand
// type, so that an f32 (24 bits) is exact as three bfloat16, an f16 as two.
//
// Layout: column c, unit u, lane q: eight 16-bit elements at c * x_pitch + u * 64 + q * 16, in the
// order of the weight format's fragment.
#pragma once

#include "tilewright/ops/linear/linear_operands.cuh"

namespace tilewright {

// Factors of a row: x is multiplied by `in` (and the norm weight), results by `out`.
struct RowScales {
  float in[16], out[16];
  float square_sum[16], largest[16];  // by row, or by warp when there is one row
};

namespace detail {

template <class T>
struct IsHalf {
  static constexpr bool value = false;
};
template <>
struct IsHalf<half> {
  static constexpr bool value = true;
};

// The next term of `rest`, which keeps what is left. All but the last are cut, not rounded, so
// that none overflows.
TW_DEVICE uint32_t take_plane(bf16, float& rest, bool last) {
  uint32_t bits = last ? uint32_t(float_to_bf16(rest)) << 16 : float_bits(rest) & 0xffff0000u;
  if (rest != rest) bits = 0x7fff0000u;
  rest = (bits & 0x7f800000u) == 0x7f800000u ? 0.0f : rest - bits_float(bits);
  return bits >> 16;
}

TW_DEVICE uint32_t take_plane(half, float& rest, bool) {
  const uint32_t bits = float_to_half(rest);
  rest = (bits & 0x7c00u) == 0x7c00u ? 0.0f : rest - half_to_float(uint16_t(bits));
  return bits;
}

// A power of two that brings `largest` near 2^14: half has room for a row of any range then.
TW_DEVICE float half_range_scale(float largest) {
  const int exponent = int(float_bits(largest) >> 23 & 255u) - 127;
  if (!(largest > 0.0f) || exponent == 128) return 1.0f;
  const int shift = 14 - exponent;
  return bits_float(uint32_t((shift > 126 ? 126 : shift) + 127) << 23);
}

TW_DEVICE float power_of_two_inverse(float scale) {
  return bits_float((254u << 23) - float_bits(scale));
}

}  // namespace detail

template <class Format, int kWarps>
struct StreamX {
  using Operand = typename Format::Operand;
  static constexpr bool kHalf = detail::IsHalf<Operand>::value;

  const LinearArgs& args;
  RowScales& scales;
  int warp, lane;

  TW_DEVICE StreamX(const LinearArgs& args_in, RowScales& scales_in, int warp_in, int lane_in)
      : args(args_in), scales(scales_in), warp(warp_in), lane(lane_in) {}

  TW_DEVICE bool scaled() const {
    return args.norm_weight != nullptr || (kHalf && args.x_type != kStorageF16);
  }

  // Elements of a row, multiplied by the norm weight.
  TW_DEVICE void load(int64_t row, int64_t k, float (&value)[8]) const {
    load8_aligned(args.x, args.x_type, row * args.x_stride + k, value);
  }
  TW_DEVICE void weigh(int64_t k, float (&value)[8]) const {
    if (args.norm_weight == nullptr) return;
    float weight[8];
    load8_aligned(args.norm_weight, args.norm_type, k, weight);
    TW_UNROLL
    for (int i = 0; i < 8; ++i) value[i] *= weight[i];
  }

  // Before the wait for the kernel before this one: its results are not touched.
  TW_DEVICE void prefetch_norm() const {
    if (args.norm_weight == nullptr) return;
    const int64_t bytes = args.k * element_bytes(args.norm_type);
    _Pragma("unroll 1") for (int64_t at = (warp * 32 + lane) * 128; at < bytes;
                             at += kWarps * 32 * 128) {
      ptx::prefetch_l2(static_cast<const char*>(args.norm_weight) + at);
    }
  }

  // Sums of squares and, for half, the largest weighed magnitude. A barrier of the warps follows.
  TW_DEVICE void measure() {
    const bool one = args.m == 1;
    const int step = one ? kWarps * 32 : 32;
    for (int row = one ? 0 : warp; row < args.m; row += one ? 1 : kWarps) {
      float square_sum = 0, largest = 0;
      _Pragma("unroll 4") for (int v = (one ? warp * 32 : 0) + lane; v < int(args.k / 8);
                               v += step) {
        float value[8];
        load(row, int64_t(v) * 8, value);
        TW_UNROLL
        for (int i = 0; i < 8; ++i) square_sum += value[i] * value[i];
        if constexpr (kHalf) {
          weigh(int64_t(v) * 8, value);
          TW_UNROLL
          for (int i = 0; i < 8; ++i) largest = fmaxf(largest, fabsf(value[i]));
        }
      }
      TW_UNROLL
      for (int mask = 16; mask > 0; mask /= 2) {
        square_sum += __shfl_xor_sync(0xffffffffu, square_sum, mask);
        if constexpr (kHalf) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, mask));
      }
      if (lane == 0) {
        scales.square_sum[one ? warp : row] = square_sum;
        scales.largest[one ? warp : row] = largest;
      }
    }
  }

  // By one thread a row, after measure() and a barrier; another barrier follows.
  TW_DEVICE void settle(int row) {
    const int first = args.m == 1 ? 0 : row, count = args.m == 1 ? kWarps : 1;
    float square_sum = 0, largest = 0;
    for (int i = first; i < first + count; ++i) {
      square_sum += scales.square_sum[i];
      largest = fmaxf(largest, scales.largest[i]);
    }
    float in = 1.0f, out = 1.0f;
    if (args.norm_weight != nullptr) in = rsqrtf(square_sum / float(args.k) + args.norm_eps);
    if constexpr (kHalf) {
      const float scale = detail::half_range_scale(largest * in);
      in *= scale;
      out = detail::power_of_two_inverse(scale);
    }
    scales.in[row] = in;
    scales.out[row] = out;
  }

  // Eight neighbours of k as one plane, in the order of the format.
  static TW_DEVICE void store_plane(char* unit, int part, const uint32_t (&term)[8]) {
    if constexpr (Format::kWide) {
      ptx::Word4 packed;
      TW_UNROLL
      for (int i = 0; i < 4; ++i) packed.word[i] = term[2 * i] | term[2 * i + 1] << 16;
      *reinterpret_cast<ptx::Word4*>(unit + part * 16) = packed;
    } else {
      TW_UNROLL
      for (int i = 0; i < 2; ++i) {
        uint32_t* target =
            reinterpret_cast<uint32_t*>(unit + (part % 2 * 2 + i) * 16 + part / 2 * 8);
        target[0] = term[4 * i] | term[4 * i + 2] << 16;
        target[1] = term[4 * i + 1] | term[4 * i + 3] << 16;
      }
    }
  }

  // Fills the columns with units first_unit … first_unit + units - 1. sums: [unit][columns] sums
  // over a unit of every row, in the columns of the first plane, for formats with a minimum.
  TW_DEVICE void fill(char* columns, uint32_t pitch, float* sums, int sum_columns, int first_unit,
                      int units) {
    const int row_vectors = units * 4, vectors = row_vectors * args.m;
    const bool use_scales = scaled();
    for (int start = warp * 32; start < vectors; start += kWarps * 32) {
      const bool inside = start + lane < vectors;
      const int index = inside ? start + lane : 0;
      const int row = index / row_vectors, vector = index % row_vectors;
      const int unit = vector / 4, part = vector % 4;
      const int64_t k = (int64_t(first_unit) * 4 + vector) * 8;
      float value[8];
      load(row, k, value);
      if (use_scales) {
        weigh(k, value);
        TW_UNROLL
        for (int i = 0; i < 8; ++i) value[i] *= scales.in[row];
      }
      float sum = 0;
      _Pragma("unroll 1") for (int plane = 0; plane < args.planes; ++plane) {
        uint32_t term[8];
        TW_UNROLL
        for (int i = 0; i < 8; ++i) {
          const float before = value[i];
          term[i] = detail::take_plane(Operand(), value[i], plane + 1 == args.planes);
          sum += before - value[i];
        }
        char* column = columns + uint32_t(plane * args.m + row) * pitch;
        if (inside) store_plane(column + unit * 64, part, term);
      }
      if constexpr (Format::kMinimum) {
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        for (int plane = 0; inside && part == 0 && plane < args.planes; ++plane) {
          sums[unit * sum_columns + plane * args.m + row] = plane == 0 ? sum : 0.0f;
        }
      }
    }
  }
};

}  // namespace tilewright
