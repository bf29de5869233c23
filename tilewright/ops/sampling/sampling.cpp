// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/sampling/sampling.h"

#include "tilewright/base/text.h"
#include "tilewright/ops/_core/check.h"
#include "tilewright/ops/_core/host_work.h"
#include "tilewright/ops/sampling/sampling_cpu.h"
#include "tilewright/ops/sampling/sampling_cuda.h"

namespace tilewright {
namespace {

constexpr const char* kOp = "sampling";

SamplingArgs checked_args(const Tensor& tokens, const Tensor& logits, const Tensor& params,
                          const Tensor& positions, const Stream& stream) {
  constexpr std::int64_t kMaxVocab = std::int64_t(1) << 23;  // sums of weights fit 64 bits
  check(kOp, "logits", logits)
      .on(stream)
      .dtype({DType::f32})
      .rank(2)
      .rows_contiguous()
      .that((logits.size(1) >= 1 || logits.size(0) == 0) && logits.size(1) <= kMaxVocab,
            str("1 to ", kMaxVocab, " columns"));
  const std::int64_t rows = logits.size(0);
  check(kOp, "tokens", tokens).on(stream).dtype({DType::i32}).shape({rows}).contiguous();
  check(kOp, "positions", positions).on(stream).dtype({DType::i32}).shape({rows}).contiguous();
  check(kOp, "params", params)
      .on(stream)
      .dtype({DType::u8})
      .shape({rows * std::int64_t(sizeof(SamplingParams))})
      .contiguous()
      .that(reinterpret_cast<std::uintptr_t>(params.data()) % alignof(SamplingParams) == 0,
            str("memory aligned to ", alignof(SamplingParams), " bytes"));
  SamplingArgs args{};
  args.logits = logits.data_as<const float>();
  args.params = params.data_as<const SamplingParams>();
  args.positions = positions.data_as<const std::int32_t>();
  args.tokens = tokens.data_as<std::int32_t>();
  args.logits_stride = row_stride(logits);
  args.rows = static_cast<std::int32_t>(rows);
  args.vocab = static_cast<std::int32_t>(logits.size(1));
  return args;
}

}  // namespace

void sample_into(const Tensor& tokens, const Tensor& logits, const Tensor& params,
                 const Tensor& positions, const Stream& stream) {
  const SamplingArgs args = checked_args(tokens, logits, params, positions, stream);
  if (args.rows == 0) return;
  if (stream.device().is_cuda()) return sample_cuda(args, stream);
  if (!stream.device().is_cpu()) fail_device(kOp, stream);
  run_host(stream, [=] { sample_cpu(args); }, tokens, logits, params, positions);
}

}  // namespace tilewright
