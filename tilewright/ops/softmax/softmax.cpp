// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/softmax/softmax.h"

#include "tilewright/ops/_core/check.h"
#include "tilewright/ops/_core/host_work.h"
#include "tilewright/ops/softmax/softmax_cpu.h"
#include "tilewright/ops/softmax/softmax_cuda.h"

namespace tilewright {

void softmax_into(const Tensor& y, const Tensor& x, const Stream& stream) {
  constexpr const char* kOp = "softmax";
  check(kOp, "x", x).on(stream).floating().rank(2).rows_contiguous();
  check(kOp, "y", y).on(stream).floating().shape(x.shape()).rows_contiguous().writable();
  if (x.numel() == 0) return;
  SoftmaxArgs args{};
  args.x = x.data();
  args.y = y.data();
  args.rows = x.size(0);
  args.cols = x.size(1);
  args.x_stride = row_stride(x);
  args.y_stride = row_stride(y);
  const DType in = x.dtype(), out = y.dtype();
  if (stream.device().is_cuda()) return softmax_cuda(args, in, out, stream);
  if (!stream.device().is_cpu()) fail_device(kOp, stream);
  run_host(stream, [=] { softmax_cpu(args, in, out); }, y, x);
}

Tensor softmax(const Tensor& x, const Stream& stream) {
  check("softmax", "x", x).floating();
  Tensor y = empty_like(x, stream);
  softmax_into(y, x, stream);
  return y;
}

}  // namespace tilewright
