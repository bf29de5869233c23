// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/add/add.h"

#include "tilewright/base/error.h"
#include "tilewright/ops/_core/check.h"
#include "tilewright/ops/_core/host_work.h"
#include "tilewright/ops/_core/pointwise.h"
#include "tilewright/ops/add/add_cpu.h"
#include "tilewright/ops/add/add_cuda.h"

namespace tilewright {
namespace {

constexpr const char* kOp = "add";

void check_dtypes(const Tensor& y, const Tensor& a, const Tensor& b) {
  check(kOp, "a", a).dtype({DType::f32, DType::f16, DType::bf16, DType::i32});
  if (a.dtype() == DType::i32) {
    check(kOp, "b", b).dtype({DType::i32});
    check(kOp, "y", y).dtype({DType::i32});
  } else {
    check(kOp, "b", b).floating();
    check(kOp, "y", y).floating();
  }
}

Shape broadcast_shape(const Tensor& a, const Tensor& b) {
  const Tensor& longer = a.rank() >= b.rank() ? a : b;
  const Tensor& shorter = a.rank() >= b.rank() ? b : a;
  Shape shape = longer.shape();
  for (int axis = 1; axis <= shorter.rank(); ++axis) {
    const std::int64_t left = shape[-axis], right = shorter.size(-axis);
    TW_CHECK(left == right || left == 1 || right == 1, InvalidArgument, kOp, ": got shapes ",
             a.shape(), " and ", b.shape(), "; takes shapes that broadcast to one");
    shape[-axis] = left == 1 ? right : left;
  }
  return shape;
}

DType sum_dtype(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() ? a.dtype() : DType::f32;
}

}  // namespace

void add_into(const Tensor& y, const Tensor& a, const Tensor& b, const Stream& stream) {
  check(kOp, "a", a).on(stream);
  check(kOp, "b", b).on(stream);
  check(kOp, "y", y).on(stream).writable();
  check_dtypes(y, a, b);
  AddArgs args{};
  args.layout = pointwise_layout(kOp, y, a, b);
  if (y.numel() == 0) return;
  args.y = y.data();
  args.a = a.data();
  args.b = b.data();
  const DType left = a.dtype(), right = b.dtype(), out = y.dtype();
  if (stream.device().is_cuda()) return add_cuda(args, left, right, out, stream);
  if (!stream.device().is_cpu()) fail_device(kOp, stream);
  run_host(stream, [=] { add_cpu(args, left, right, out); }, y, a, b);
}

Tensor add(const Tensor& a, const Tensor& b, const Stream& stream) {
  check(kOp, "a", a);
  check(kOp, "b", b);
  Tensor y = Tensor::empty(broadcast_shape(a, b), sum_dtype(a, b), stream);
  add_into(y, a, b, stream);
  return y;
}

}  // namespace tilewright
