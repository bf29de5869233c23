// SPDX-License-Identifier: Apache-2.0
// The GGUF block formats as they are stored, and plain conversions of whole rows.
// Source of the layouts: the GGUF specification.
#pragma once

#include <cstdint>

#include "tilewright/base/dtype.h"

namespace tilewright {

// Element types that dequantize_row reads: f32, f16, bf16, q8_0, q4_0, q4_1, q6_k.
bool is_row_type(DType dtype);

// out[i] = value of element i of a stored row, 0 <= i < k; k fills whole blocks.
//   q8_0: d * q          32 elements: half d, int8 q[32]
//   q4_0: d * (q - 8)    32 elements: half d, nibbles (low: 0..15, high: 16..31)
//   q4_1: d * q + m      32 elements: half d, half m, nibbles as q4_0
//   q6_k: d * s * (q - 32)  256 elements: low nibbles [128], high pairs of bits [64],
//                        int8 s[16] (one for 16 elements), half d
// `row` needs no alignment. Throws Unsupported for another dtype.
void dequantize_row(DType dtype, const void* row, float* out, std::int64_t k);

// Rounds k floats to a stored row, block by block: a reference for tests and benchmarks (searches
// no better scale than the plain one). `values` are finite. Throws as dequantize_row.
void quantize_row(DType dtype, const float* values, void* row, std::int64_t k);

}  // namespace tilewright
