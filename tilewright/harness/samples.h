// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of tests: random values that are the same everywhere, and memory around every
// tensor that tells when it was written.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/harness/cases.h"

namespace tilewright {

// Uniform in [low, high), from (seed, index) alone.
std::vector<float> random_floats(std::int64_t count, std::uint64_t seed, float low = -1,
                                 float high = 1);
std::vector<std::int32_t> random_integers(std::int64_t count, std::uint64_t seed, std::int32_t low,
                                          std::int32_t past);

// A tensor inside larger memory that is filled with a pattern: NaN to whoever reads it as floats.
class Guarded {
 public:
  // Contents are the pattern: what an op leaves unwritten shows up as NaN.
  Guarded(const Shape& shape, DType dtype, Layout layout, const Stream& stream);
  // With values (rounded to dtype), given row-major.
  Guarded(const Shape& shape, DType dtype, Layout layout, const std::vector<float>& values,
          const Stream& stream);

  const Tensor& tensor() const { return tensor_; }
  // The elements, row-major; synchronises.
  std::vector<double> values(const Stream& stream) const;
  // Bytes outside the tensor's elements that are no longer the pattern; synchronises.
  std::int64_t damaged_bytes(const Stream& stream) const;

 private:
  std::vector<std::uint8_t> read_all(const Stream& stream) const;

  Tensor storage_;  // u8
  Tensor tensor_;
};

// Row-major elements as doubles; block types are dequantised by the caller. Synchronises.
std::vector<double> values_of(const Tensor& tensor, const Stream& stream);
// Rounds to the dtype and back.
std::vector<double> rounded(const std::vector<float>& values, DType dtype);
// A contiguous tensor of values rounded to the dtype.
Tensor tensor_of(const std::vector<float>& values, const Shape& shape, DType dtype,
                 const Stream& stream);
Tensor tensor_of(const std::vector<std::int32_t>& values, const Stream& stream);

}  // namespace tilewright
