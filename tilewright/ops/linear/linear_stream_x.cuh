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
  float by_warp[16][16];              // sums of squares by row and warp
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

  // The common case, bfloat16 in one plane: x goes as it is, or times the norm weight, and the
  // factor of a normalised row, which needs all of it, is left to the end.
  TW_DEVICE bool rounded() const {
    if (kHalf || !Format::kWide || args.planes != 1 || args.x_type == kStorageF16) return false;
    return args.norm_weight == nullptr ? args.x_type == kStorageBf16 : args.k % 256 == 0;
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

  // Eight neighbours of a row of x as they are stored, and the norm weights beside them: what is in
  // flight for one vector.
  struct Raw {
    ptx::Word4 x[2], norm[2];
  };

  static TW_DEVICE void load_raw(const void* base, StorageType type, int64_t index,
                                 ptx::Word4 (&raw)[2]) {
    const char* source = static_cast<const char*>(base) + index * element_bytes(type);
    raw[0] = ptx::ld_global_cg(source);
    if (type == kStorageF32) raw[1] = ptx::ld_global_cg(source + 16);
  }
  static TW_DEVICE void unpack_raw(const ptx::Word4 (&raw)[2], StorageType type,
                                   float (&value)[8]) {
    if (type != kStorageF32) return detail::unpack_any16(raw[0], type, value);
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      value[i] = detail::bits_float(raw[0].word[i]);
      value[i + 4] = detail::bits_float(raw[1].word[i]);
    }
  }

  TW_DEVICE void measure_vector(const Raw& raw, float& square_sum, float& largest) const {
    float value[8], norm[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    unpack_raw(raw.x, args.x_type, value);
    if (kHalf && args.norm_weight != nullptr) unpack_raw(raw.norm, args.norm_type, norm);
    TW_UNROLL
    for (int i = 0; i < 8; ++i) {
      square_sum += value[i] * value[i];
      if constexpr (kHalf) largest = fmaxf(largest, fabsf(value[i] * norm[i]));
    }
  }

  // Sums of squares and, for half, the largest weighed magnitude. A barrier of the warps follows.
  TW_DEVICE void measure() {
    const bool one = args.m == 1;
    const int step = one ? kWarps * 32 : 32;
    for (int row = one ? 0 : warp; row < args.m; row += one ? 1 : kWarps) {
      float square_sum = 0, largest = 0;
      const int vectors = int(args.k / 8);
      for (int start = (one ? warp * 32 : 0) + lane; start < vectors; start += 2 * step) {
        Raw raw[2];
        TW_UNROLL
        for (int i = 0; i < 2; ++i) {
          const int64_t k = int64_t(start + i * step) * 8;
          if (start + i * step >= vectors) continue;
          load_raw(args.x, args.x_type, row * args.x_stride + k, raw[i].x);
          if (kHalf && args.norm_weight != nullptr) {
            load_raw(args.norm_weight, args.norm_type, k, raw[i].norm);
          }
        }
        TW_UNROLL
        for (int i = 0; i < 2; ++i) {
          if (start + i * step < vectors) measure_vector(raw[i], square_sum, largest);
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

  // Where the columns go: pitch from column to column, sums as fill() takes them.
  struct Columns {
    char* base;
    uint32_t pitch;
    float* sums;
    int sum_columns;
  };

  // kWideX: x may be float32.
  template <bool kNorm, bool kWideX>
  TW_DEVICE void put(const Columns& to, const Raw& raw, int row, int vector, bool inside) const {
    const int unit = vector / 4, part = vector % 4;
    float value[8];
    if constexpr (kWideX) {
      unpack_raw(raw.x, args.x_type, value);
    } else {
      detail::unpack_any16(raw.x[0], args.x_type, value);
    }
    if constexpr (kNorm) {
      float norm[8];
      unpack_raw(raw.norm, args.norm_type, norm);
      TW_UNROLL
      for (int i = 0; i < 8; ++i) value[i] *= norm[i];
    }
    if (kNorm || scaled()) {
      const float scale = scales.in[row];
      TW_UNROLL
      for (int i = 0; i < 8; ++i) value[i] *= scale;
    }
    float sum = 0;
    for (int plane = 0; plane < args.planes; ++plane) {
      uint32_t term[8];
      TW_UNROLL
      for (int i = 0; i < 8; ++i) {
        const float before = value[i];
        term[i] = detail::take_plane(Operand(), value[i], plane + 1 == args.planes);
        sum += before - value[i];
      }
      char* column = to.base + uint32_t(plane * args.m + row) * to.pitch;
      if (inside) store_plane(column + unit * 64, part, term);
    }
    if constexpr (Format::kMinimum) {
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      for (int plane = 0; inside && part == 0 && plane < args.planes; ++plane) {
        to.sums[unit * to.sum_columns + plane * args.m + row] = plane == 0 ? sum : 0.0f;
      }
    }
  }

  // kBatch vectors of a thread are asked for before the first is used: one trip to the L2 takes
  // longer than all the arithmetic here.
  template <int kBatch, bool kNorm, bool kWideX>
  TW_DEVICE void fill_batches(const Columns& to, int first_unit, int units) const {
    const int row_vectors = units * 4, vectors = row_vectors * args.m;
    const int64_t first = int64_t(first_unit) * StreamLayout::kUnit;
    for (int start = warp * 32; start < vectors; start += kWarps * 32 * kBatch) {
      Raw raw[kBatch];
      TW_UNROLL
      for (int i = 0; i < kBatch; ++i) {
        const int index = start + i * kWarps * 32 + lane;
        if (index >= vectors) continue;
        const int64_t k = first + index % row_vectors * 8;
        const int64_t at = index / row_vectors * args.x_stride + k;
        load_raw(args.x, kWideX ? args.x_type : kStorageF16, at, raw[i].x);
        if constexpr (kNorm) load_raw(args.norm_weight, args.norm_type, k, raw[i].norm);
      }
      TW_UNROLL
      for (int i = 0; i < kBatch; ++i) {
        const int at = start + i * kWarps * 32;
        if (at >= vectors) break;
        const int index = at + lane < vectors ? at + lane : 0;
        put<kNorm, kWideX>(to, raw[i], index / row_vectors, index % row_vectors,
                           at + lane < vectors);
      }
    }
  }

  TW_DEVICE ptx::Word4 weighed(const Raw& raw, float& square_sum) const {
    float value[8], norm[8];
    unpack_raw(raw.x, args.x_type, value);
    unpack_raw(raw.norm, args.norm_type, norm);
    ptx::Word4 packed;
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      square_sum += value[2 * i] * value[2 * i] + value[2 * i + 1] * value[2 * i + 1];
      packed.word[i] =
          ptx::pack_bf16x2(value[2 * i] * norm[2 * i], value[2 * i + 1] * norm[2 * i + 1]);
    }
    return packed;
  }

  // A warp's 32 vectors are of one row: with a norm, k is a multiple of 256.
  template <int kBatch, bool kNorm>
  TW_DEVICE void fill_rounded(const Columns& to, int first_unit, int units) const {
    const int row_vectors = units * 4, vectors = row_vectors * args.m;
    const int64_t first = int64_t(first_unit) * StreamLayout::kUnit;
    constexpr int kStep = kWarps * 32;
    for (int start = warp * 32 + lane; start < vectors; start += kStep * kBatch) {
      Raw raw[kBatch];
      TW_UNROLL
      for (int i = 0; i < kBatch; ++i) {
        const int index = start + i * kStep;
        if (index >= vectors) break;
        const int row = args.m == 1 ? 0 : index / row_vectors;
        const int64_t k = first + (index - row * row_vectors) * 8;
        load_raw(args.x, kNorm ? args.x_type : kStorageBf16, row * args.x_stride + k, raw[i].x);
        if constexpr (kNorm) load_raw(args.norm_weight, args.norm_type, k, raw[i].norm);
      }
      TW_UNROLL
      for (int i = 0; i < kBatch; ++i) {
        const int index = start + i * kStep;
        if (index >= vectors) break;
        const int row = args.m == 1 ? 0 : index / row_vectors;
        char* target = to.base + uint32_t(row) * to.pitch + (index - row * row_vectors) * 16;
        if constexpr (kNorm) {
          float square_sum = 0;
          *reinterpret_cast<ptx::Word4*>(target) = weighed(raw[i], square_sum);
          TW_UNROLL
          for (int mask = 16; mask > 0; mask /= 2) {
            square_sum += __shfl_xor_sync(0xffffffffu, square_sum, mask);
          }
          if (lane == 0) scales.by_warp[row][warp] += square_sum;
        } else {
          *reinterpret_cast<ptx::Word4*>(target) = raw[i].x[0];
        }
      }
    }
  }

  // This warp's sums of squares, before the first pass.
  TW_DEVICE void clear_sums() const {
    if (lane < args.m) scales.by_warp[lane][warp] = 0;
    __syncwarp();
  }

  // The factor of a row, by one thread after the last pass is filled and a barrier.
  TW_DEVICE void settle_rounded(int row) const {
    float square_sum = 0;
    TW_UNROLL
    for (int i = 0; i < kWarps; ++i) square_sum += scales.by_warp[row][i];
    scales.out[row] = rsqrtf(square_sum / float(args.k) + args.norm_eps);
  }

  // Fills the columns with units first_unit … first_unit + units - 1. sums: [unit][columns] sums
  // over a unit of every row, in the columns of the first plane, for formats with a minimum.
  TW_DEVICE void fill(char* columns, uint32_t pitch, float* sums, int sum_columns, int first_unit,
                      int units) const {
    const Columns to = {columns, pitch, sums, sum_columns};
    if constexpr (!kHalf && Format::kWide) {
      if (rounded()) {
        if (args.norm_weight != nullptr) return fill_rounded<2, true>(to, first_unit, units);
        return fill_rounded<4, false>(to, first_unit, units);
      }
    }
    if (args.norm_weight != nullptr) {
      fill_batches<2, true, true>(to, first_unit, units);
    } else if (args.x_type == kStorageF32) {
      fill_batches<2, false, true>(to, first_unit, units);
    } else {
      fill_batches<4, false, false>(to, first_unit, units);
    }
  }
};

}  // namespace tilewright
