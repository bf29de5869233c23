// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/linear/linear.h"

#include <array>

#include "tilewright/base/error.h"
#include "tilewright/ops/_core/blocks.h"
#include "tilewright/ops/_core/check.h"
#include "tilewright/ops/linear/linear_cpu.h"
#include "tilewright/ops/linear/linear_cuda.h"

namespace tilewright {
namespace {

constexpr const char* kOp = "linear";
constexpr std::array<const char*, LinearCall::kMaxParts> kPartNames{"weights[0]", "weights[1]",
                                                                    "weights[2]"};

LinearPart checked_part(const char* argument, const Tensor& weight, std::int64_t k,
                        const Stream& stream) {
  const ArgumentCheck part = check(kOp, argument, weight).on(stream).rank(2).rows_contiguous();
  if (!is_row_type(weight.dtype()))
    part.that(false, "dtype f32, f16, bf16, q8_0, q4_0, q4_1, q6_k");
  if (weight.size(1) != k) part.that(false, str("rows of ", k, " elements, as x has"));
  const std::int64_t stride = row_stride(weight);
  const DTypeInfo& type = info(weight.dtype());
  if (stride < 0 || stride % type.block != 0)
    part.that(false, str("rows that start whole blocks of ", type.block, " apart"));
  return {weight.data(), weight.dtype(), weight.size(0), stride / type.block * type.bytes};
}

LinearVector checked_vector(const char* argument, const Tensor& vector, std::int64_t length,
                            const Stream& stream) {
  if (!vector.defined()) return {};
  check(kOp, argument, vector).on(stream).floating().shape({length}).contiguous();
  return {vector.data(), vector.dtype()};
}

// The columns that the parts give y.
std::int64_t column_count(const LinearCall& call) {
  if (!call.silu_pairs) {
    std::int64_t columns = 0;
    for (int i = 0; i < call.part_count; ++i) columns += call.parts[i].rows;
    return columns;
  }
  TW_CHECK(call.part_count == 2, InvalidArgument, kOp, ": silu_pairs: got ", call.part_count,
           " weights; takes two, gate and up");
  TW_CHECK(call.parts[0].rows == call.parts[1].rows, InvalidArgument, kOp,
           ": silu_pairs: got weights of ", call.parts[0].rows, " and ", call.parts[1].rows,
           " rows; takes equal ones");
  return call.parts[0].rows;
}

void check_residual(const Tensor& y, const Tensor& residual, const Stream& stream) {
  check(kOp, "residual", residual).on(stream).floating().shape(y.shape()).rows_contiguous();
  if (residual.data() != y.data() || y.numel() == 0) return;
  check(kOp, "residual", residual)
      .that(residual.dtype() == y.dtype() && row_stride(residual) == row_stride(y),
            "y's dtype and strides when it shares y's memory");
}

void set_options(LinearCall& call, const Tensor& y, const LinearOptions& options,
                 const Stream& stream) {
  call.bias = checked_vector("bias", options.bias, call.n, stream);
  TW_CHECK(!call.silu_pairs || !options.bias.defined(), InvalidArgument, kOp,
           ": bias: got one with silu_pairs; takes none, since it could mean two things");
  call.norm_weight = checked_vector("norm_weight", options.norm_weight, call.k, stream);
  TW_CHECK(options.norm_eps >= 0, InvalidArgument, kOp, ": norm_eps: got ", options.norm_eps,
           "; takes 0 or more");
  call.norm_eps = options.norm_eps;
  if (!options.residual.defined()) return;
  check_residual(y, options.residual, stream);
  call.residual = {options.residual.data(), options.residual.dtype()};
  call.residual_stride = row_stride(options.residual);
}

LinearCall checked_call(const Tensor& y, const Tensor& x, std::span<const Tensor> weights,
                        const LinearOptions& options, const Stream& stream) {
  check(kOp, "x", x).on(stream).floating().rank(2).rows_contiguous();
  TW_CHECK(!weights.empty() && weights.size() <= LinearCall::kMaxParts, InvalidArgument, kOp,
           ": weights: got ", weights.size(), "; takes one to ", LinearCall::kMaxParts);
  LinearCall call;
  call.m = x.size(0);
  call.k = x.size(1);
  call.x = {x.data(), x.dtype()};
  call.x_stride = row_stride(x);
  call.silu_pairs = options.silu_pairs;
  call.activations = options.activations;
  for (const Tensor& weight : weights) {
    call.parts[call.part_count] =
        checked_part(kPartNames[std::size_t(call.part_count)], weight, call.k, stream);
    ++call.part_count;
  }
  call.n = column_count(call);
  check(kOp, "y", y).on(stream).floating().shape({call.m, call.n}).rows_contiguous().writable();
  TW_CHECK(y.data() != x.data() || y.numel() == 0 || x.numel() == 0, InvalidArgument, kOp,
           ": y: got the memory of x; takes memory of its own");
  call.y = y.data();
  call.y_dtype = y.dtype();
  call.y_stride = row_stride(y);
  set_options(call, y, options, stream);
  return call;
}

// Everything whose memory a recorded call must keep.
struct LinearOperands {
  std::array<Buffer, LinearCall::kMaxParts> weights;
  Buffer x, y, bias, residual, norm_weight;
};

void run_on_cpu(const LinearCall& call, const Tensor& y, const Tensor& x,
                std::span<const Tensor> weights, const LinearOptions& options,
                const Stream& stream) {
  if (!stream.capturing()) return stream.run([&call] { linear_cpu(call); });
  LinearOperands keep{{},
                      x.buffer(),
                      y.buffer(),
                      options.bias.buffer(),
                      options.residual.buffer(),
                      options.norm_weight.buffer()};
  for (std::size_t i = 0; i < weights.size(); ++i) keep.weights[i] = weights[i].buffer();
  stream.run([call, keep] { linear_cpu(call); });
}

}  // namespace

void linear_into(const Tensor& y, const Tensor& x, std::span<const Tensor> weights,
                 const LinearOptions& options, const Stream& stream) {
  const LinearCall call = checked_call(y, x, weights, options, stream);
  if (call.m == 0 || call.n == 0) return;
  if (stream.device().is_cpu()) return run_on_cpu(call, y, x, weights, options, stream);
  if (stream.device().is_cuda()) return linear_cuda(call, stream);
  fail_device(kOp, stream);
}

void linear_into(const Tensor& y, const Tensor& x, const Tensor& weight,
                 const LinearOptions& options, const Stream& stream) {
  linear_into(y, x, std::span<const Tensor>(&weight, 1), options, stream);
}

}  // namespace tilewright
