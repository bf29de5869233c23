// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/silu_mul/silu_mul.h"

#include "tilewright/ops/_core/check.h"
#include "tilewright/ops/_core/host_work.h"
#include "tilewright/ops/silu_mul/silu_mul_cpu.h"
#include "tilewright/ops/silu_mul/silu_mul_cuda.h"

namespace tilewright {
namespace {

constexpr const char* kOp = "silu_mul";

SiluMulArgs checked_args(const Tensor& y, const Tensor& gate, const Tensor& up,
                         const Stream& stream) {
  check(kOp, "gate", gate).on(stream).floating().rank(2).rows_contiguous();
  check(kOp, "up", up).on(stream).floating().shape(gate.shape()).rows_contiguous();
  check(kOp, "y", y).on(stream).floating().shape(gate.shape()).rows_contiguous().writable();
  SiluMulArgs args{};
  args.gate = gate.data();
  args.up = up.data();
  args.y = y.data();
  args.rows = gate.size(0);
  args.cols = gate.size(1);
  args.gate_stride = row_stride(gate);
  args.up_stride = row_stride(up);
  args.y_stride = row_stride(y);
  return args;
}

}  // namespace

void silu_mul_into(const Tensor& y, const Tensor& gate, const Tensor& up, const Stream& stream) {
  const SiluMulArgs args = checked_args(y, gate, up, stream);
  if (gate.numel() == 0) return;
  const DType first = gate.dtype(), second = up.dtype(), out = y.dtype();
  if (stream.device().is_cuda()) return silu_mul_cuda(args, first, second, out, stream);
  if (!stream.device().is_cpu()) fail_device(kOp, stream);
  run_host(stream, [=] { silu_mul_cpu(args, first, second, out); }, y, gate, up);
}

Tensor silu_mul(const Tensor& gate, const Tensor& up, const Stream& stream) {
  check(kOp, "gate", gate).floating();
  Tensor y = empty_like(gate, stream);
  silu_mul_into(y, gate, up, stream);
  return y;
}

}  // namespace tilewright
