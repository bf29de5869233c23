// SPDX-License-Identifier: Apache-2.0
// Checks of an op's arguments. Each throws InvalidArgument with the op, the argument, what it got
// and what it takes: "rms_norm: weight: got i32 [8] on cpu; takes f32, f16, bf16".
#pragma once

#include <initializer_list>
#include <string>

#include "tilewright/runtime/tensor.h"

namespace tilewright {

// check("rms_norm", "x", x).on(stream).floating().shape({rows, cols}).rows_contiguous();
class ArgumentCheck {
 public:
  ArgumentCheck(const char* op, const char* argument, const Tensor& tensor);

  const ArgumentCheck& on(const Stream& stream) const;
  const ArgumentCheck& dtype(std::initializer_list<DType> wanted) const;
  const ArgumentCheck& floating() const;  // f32, f16, bf16
  const ArgumentCheck& rank(int wanted) const;
  const ArgumentCheck& shape(const Shape& wanted) const;
  // The last axis has stride 1; the others are free.
  const ArgumentCheck& rows_contiguous() const;
  const ArgumentCheck& contiguous() const;
  // No two elements of it share memory by a stride of 0.
  const ArgumentCheck& writable() const;
  // Throws unless `condition`; `wanted` completes "takes …".
  const ArgumentCheck& that(bool condition, const std::string& wanted) const;

 private:
  const char* op_;
  const char* argument_;
  const Tensor& tensor_;
};

inline ArgumentCheck check(const char* op, const char* argument, const Tensor& tensor) {
  return {op, argument, tensor};
}

// For a stream on a device that has no form of the op.
[[noreturn]] void fail_device(const char* op, const Stream& stream);

// The stride of axis 0 for a [rows, cols] tensor, 0 when there is one row or none.
std::int64_t row_stride(const Tensor& tensor);

}  // namespace tilewright
