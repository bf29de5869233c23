// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tilewright {

// How the cpu rounds x before it is multiplied with block weights (q8_0, q4_0, q4_1, q6_k), in
// blocks of 32 along K whose largest magnitude is `max`. The products are exact, and summed in
// float32 over blocks. Plain weights, and a GPU, take x as it is.
enum class ActivationRounding {
  // |error| <= max / 32512: in effect the precision of float32 weights. The default.
  kSixteenBit,
  // |error| <= max / 254, and a relative 2^-11: up to twice as fast, and what llama.cpp does on cpu
  // (scale = max / 127 held as f16, as is scale * sum(q); q rounded to even).
  kEightBit,
};

}  // namespace tilewright
