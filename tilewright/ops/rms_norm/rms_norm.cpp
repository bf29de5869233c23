// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/rms_norm/rms_norm.h"

#include "tilewright/base/error.h"
#include "tilewright/ops/_core/check.h"
#include "tilewright/ops/_core/host_work.h"
#include "tilewright/ops/rms_norm/rms_norm_cpu.h"
#include "tilewright/ops/rms_norm/rms_norm_cuda.h"

namespace tilewright {
namespace {

RmsNormArgs checked_args(const char* op, const Tensor& y, const Tensor& x, const Tensor& weight,
                         float eps, const Stream& stream) {
  check(op, "x", x).on(stream).floating().rank(2).rows_contiguous();
  check(op, "weight", weight).on(stream).floating().shape({x.size(1)}).contiguous();
  check(op, "y", y).on(stream).floating().shape(x.shape()).rows_contiguous().writable();
  TW_CHECK(eps >= 0, InvalidArgument, op, ": eps: got ", eps, "; takes 0 or more");
  RmsNormArgs args{};
  args.x = x.data();
  args.weight = weight.data();
  args.y = y.data();
  args.rows = x.size(0);
  args.cols = x.size(1);
  args.x_stride = row_stride(x);
  args.y_stride = row_stride(y);
  args.eps = eps;
  return args;
}

}  // namespace

void rms_norm_into(const Tensor& y, const Tensor& x, const Tensor& weight, float eps,
                   const Stream& stream) {
  const RmsNormArgs args = checked_args("rms_norm", y, x, weight, eps, stream);
  if (x.numel() == 0) return;
  const DType in = x.dtype(), scale = weight.dtype(), out = y.dtype();
  if (stream.device().is_cuda()) return rms_norm_cuda(args, in, scale, out, stream);
  if (!stream.device().is_cpu()) fail_device("rms_norm", stream);
  run_host(stream, [=] { rms_norm_cpu(args, in, scale, DType::f32, out); }, y, x, weight);
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, float eps, const Stream& stream) {
  check("rms_norm", "x", x).floating();
  Tensor y = empty_like(x, stream);
  rms_norm_into(y, x, weight, eps, stream);
  return y;
}

void add_rms_norm_into(const Tensor& y, const Tensor& residual, const Tensor& x,
                       const Tensor& weight, float eps, const Stream& stream) {
  constexpr const char* kOp = "add_rms_norm";
  RmsNormArgs args = checked_args(kOp, y, x, weight, eps, stream);
  check(kOp, "residual", residual)
      .on(stream)
      .floating()
      .shape(x.shape())
      .rows_contiguous()
      .writable();
  if (x.numel() == 0) return;
  args.residual = residual.data();
  args.residual_stride = row_stride(residual);
  const DType in = x.dtype(), scale = weight.dtype(), sum = residual.dtype(), out = y.dtype();
  if (stream.device().is_cuda()) return add_rms_norm_cuda(args, in, scale, sum, out, stream);
  if (!stream.device().is_cpu()) fail_device(kOp, stream);
  run_host(stream, [=] { rms_norm_cpu(args, in, scale, sum, out); }, y, residual, x, weight);
}

}  // namespace tilewright
