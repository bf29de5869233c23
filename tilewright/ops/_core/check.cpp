// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/check.h"

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright {

ArgumentCheck::ArgumentCheck(const char* op, const char* argument, const Tensor& tensor)
    : op_(op), argument_(argument), tensor_(tensor) {
  TW_CHECK(tensor.defined(), InvalidArgument, op, ": ", argument,
           ": got an undefined tensor; takes one with memory");
}

const ArgumentCheck& ArgumentCheck::that(bool condition, const std::string& wanted) const {
  TW_CHECK(condition, InvalidArgument, op_, ": ", argument_, ": got ", tensor_.describe(),
           "; takes ", wanted);
  return *this;
}

const ArgumentCheck& ArgumentCheck::on(const Stream& stream) const {
  if (tensor_.device() == stream.device()) return *this;
  return that(false, str("a tensor on the stream's device, ", to_string(stream.device()),
                         "; copy it there with to(stream)"));
}

const ArgumentCheck& ArgumentCheck::dtype(std::initializer_list<DType> wanted) const {
  if (std::find(wanted.begin(), wanted.end(), tensor_.dtype()) != wanted.end()) return *this;
  std::string names;
  for (const DType one : wanted) names += str(names.empty() ? "" : ", ", name(one));
  return that(false, "dtype " + names);
}

const ArgumentCheck& ArgumentCheck::floating() const {
  return dtype({DType::f32, DType::f16, DType::bf16});
}

const ArgumentCheck& ArgumentCheck::rank(int wanted) const {
  if (tensor_.rank() == wanted) return *this;
  return that(false, str(wanted, wanted == 1 ? " axis" : " axes"));
}

const ArgumentCheck& ArgumentCheck::shape(const Shape& wanted) const {
  if (tensor_.shape() == wanted) return *this;
  return that(false, str("shape ", wanted));
}

const ArgumentCheck& ArgumentCheck::rows_contiguous() const {
  const bool ok = tensor_.rank() == 0 || tensor_.size(-1) <= 1 || tensor_.stride(-1) == 1;
  return ok ? *this : that(false, "a last axis of stride 1");
}

const ArgumentCheck& ArgumentCheck::contiguous() const {
  return tensor_.contiguous() ? *this : that(false, "a contiguous tensor");
}

const ArgumentCheck& ArgumentCheck::writable() const {
  if (tensor_.numel() == 0) return *this;
  for (int axis = 0; axis < tensor_.rank(); ++axis) {
    if (tensor_.size(axis) > 1 && tensor_.stride(axis) == 0) {
      return that(false, str("memory of its own for each element: axis ", axis, " is broadcast"));
    }
  }
  return *this;
}

void fail_device(const char* op, const Stream& stream) {
  TW_FAIL(Unsupported, op, ": no form for device ", to_string(stream.device()),
          "; takes cpu or cuda");
}

std::int64_t row_stride(const Tensor& tensor) { return tensor.size(0) > 1 ? tensor.stride(0) : 0; }

}  // namespace tilewright
