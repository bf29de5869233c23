// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/layer_norm/layer_norm.h"

#include "tilewright/base/error.h"
#include "tilewright/ops/_core/check.h"
#include "tilewright/ops/_core/host_work.h"
#include "tilewright/ops/layer_norm/layer_norm_cpu.h"
#include "tilewright/ops/layer_norm/layer_norm_cuda.h"

namespace tilewright {
namespace {

constexpr const char* kOp = "layer_norm";

LayerNormArgs checked_args(const Tensor& y, const Tensor& x, const Tensor& weight,
                           const Tensor& bias, float eps, const Stream& stream) {
  check(kOp, "x", x).on(stream).floating().rank(2).rows_contiguous();
  check(kOp, "weight", weight).on(stream).floating().shape({x.size(1)}).contiguous();
  if (bias.defined())
    check(kOp, "bias", bias).on(stream).floating().shape({x.size(1)}).contiguous();
  check(kOp, "y", y).on(stream).floating().shape(x.shape()).rows_contiguous().writable();
  TW_CHECK(eps >= 0, InvalidArgument, kOp, ": eps: got ", eps, "; takes 0 or more");
  LayerNormArgs args{};
  args.x = x.data();
  args.weight = weight.data();
  args.bias = bias.defined() ? bias.data() : nullptr;
  args.y = y.data();
  args.rows = x.size(0);
  args.cols = x.size(1);
  args.x_stride = row_stride(x);
  args.y_stride = row_stride(y);
  args.eps = eps;
  return args;
}

}  // namespace

void layer_norm_into(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
                     float eps, const Stream& stream) {
  const LayerNormArgs args = checked_args(y, x, weight, bias, eps, stream);
  if (x.numel() == 0) return;
  const DType in = x.dtype(), scale = weight.dtype(), out = y.dtype();
  const DType shift = bias.defined() ? bias.dtype() : DType::f32;
  if (stream.device().is_cuda()) return layer_norm_cuda(args, in, scale, shift, out, stream);
  if (!stream.device().is_cpu()) fail_device(kOp, stream);
  run_host(stream, [=] { layer_norm_cpu(args, in, scale, shift, out); }, y, x, weight, bias);
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, float eps,
                  const Stream& stream) {
  check(kOp, "x", x).floating();
  Tensor y = empty_like(x, stream);
  layer_norm_into(y, x, weight, bias, eps, stream);
  return y;
}

}  // namespace tilewright
