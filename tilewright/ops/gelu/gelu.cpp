// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/gelu/gelu.h"

#include "tilewright/ops/_core/check.h"
#include "tilewright/ops/_core/host_work.h"
#include "tilewright/ops/_core/pointwise.h"
#include "tilewright/ops/gelu/gelu_cpu.h"
#include "tilewright/ops/gelu/gelu_cuda.h"

namespace tilewright {

void gelu_into(const Tensor& y, const Tensor& x, GeluForm form, const Stream& stream) {
  constexpr const char* kOp = "gelu";
  check(kOp, "x", x).on(stream).floating();
  check(kOp, "y", y).on(stream).floating().shape(x.shape()).writable();
  if (x.numel() == 0) return;
  GeluArgs args{};
  args.y = y.data();
  args.x = x.data();
  args.layout = pointwise_layout(kOp, y, x);
  args.tanh_form = form == GeluForm::kTanh;
  const DType in = x.dtype(), out = y.dtype();
  if (stream.device().is_cuda()) return gelu_cuda(args, in, out, stream);
  if (!stream.device().is_cpu()) fail_device(kOp, stream);
  run_host(stream, [=] { gelu_cpu(args, in, out); }, y, x);
}

Tensor gelu(const Tensor& x, GeluForm form, const Stream& stream) {
  check("gelu", "x", x).floating();
  Tensor y = empty_like(x, stream);
  gelu_into(y, x, form, stream);
  return y;
}

}  // namespace tilewright
