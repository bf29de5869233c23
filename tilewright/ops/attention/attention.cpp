// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/attention/attention.h"

#include <cmath>

#include "tilewright/base/error.h"
#include "tilewright/ops/_core/check.h"
#include "tilewright/ops/_core/host_work.h"
#include "tilewright/ops/attention/attention_cpu.h"
#include "tilewright/ops/attention/attention_cuda.h"

namespace tilewright {
namespace {

constexpr const char* kOp = "attention";

void check_cache(const KeyValueCache& cache, const Stream& stream) {
  const Tensor& keys = cache.keys;
  check(kOp, "cache.keys", keys).on(stream).floating().rank(4).rows_contiguous();
  check(kOp, "cache.values", cache.values)
      .on(stream)
      .dtype({keys.dtype()})
      .shape(keys.shape())
      .rows_contiguous();
  check(kOp, "cache.keys", keys)
      .that(keys.size(3) >= 32 && keys.size(3) <= 256 && keys.size(3) % 8 == 0,
            "a head_dim of 32 to 256, a multiple of 8");
}

void check_tokens(const char* name, const Tensor& tensor, std::int64_t tokens,
                  const Stream& stream) {
  check(kOp, name, tensor).on(stream).dtype({DType::i32}).shape({tokens}).contiguous();
}

AttentionArgs checked_args(const Tensor& out, const Tensor& q, const KeyValueCache& cache,
                           const Tensor& positions, const Tensor& sequences,
                           const AttentionOptions& options, const Stream& stream) {
  check_cache(cache, stream);
  AttentionArgs args{};
  set_cache(args, cache);
  check(kOp, "q", q)
      .on(stream)
      .floating()
      .rank(3)
      .rows_contiguous()
      .that(q.size(2) == args.head_dim, str("the cache's head_dim, ", args.head_dim));
  check(kOp, "q", q)
      .that(args.kv_heads > 0 && q.size(1) % args.kv_heads == 0,
            str("a multiple of the cache's ", args.kv_heads, " kv_heads as heads"));
  check(kOp, "out", out).on(stream).floating().shape(q.shape()).rows_contiguous().writable();
  args.tokens = q.size(0);
  args.heads = q.size(1);
  check_tokens("positions", positions, args.tokens, stream);
  check_tokens("sequences", sequences, args.tokens, stream);
  args.q = q.data();
  args.out = out.data();
  args.positions = positions.data_as<const std::int32_t>();
  args.sequences = sequences.data_as<const std::int32_t>();
  args.q_token_stride = q.stride(0);
  args.q_head_stride = q.stride(1);
  args.out_token_stride = out.stride(0);
  args.out_head_stride = out.stride(1);
  TW_CHECK(std::isfinite(options.scale), InvalidArgument, kOp, ": scale: got ", options.scale,
           "; takes a finite number, 0 for 1/sqrt(head_dim)");
  args.scale = options.scale != 0 ? options.scale : 1.0f / std::sqrt(float(args.head_dim));
  args.causal = options.causal;
  return args;
}

Tensor workspace_of(const AttentionArgs& args, const AttentionOptions& options,
                    const Stream& stream) {
  const std::int64_t wanted =
      attention_workspace(args.tokens, args.heads, args.head_dim, args.capacity, stream.device());
  if (wanted == 0) return {};
  if (!options.workspace.defined()) return Tensor::empty({wanted}, DType::f32, stream);
  check(kOp, "options.workspace", options.workspace)
      .on(stream)
      .dtype({DType::f32})
      .contiguous()
      .that(options.workspace.numel() >= wanted,
            str("at least attention_workspace() = ", wanted, " elements"));
  return options.workspace;
}

}  // namespace

void attention_into(const Tensor& out, const Tensor& q, const KeyValueCache& cache,
                    const Tensor& positions, const Tensor& sequences,
                    const AttentionOptions& options, const Stream& stream) {
  AttentionArgs args = checked_args(out, q, cache, positions, sequences, options, stream);
  if (q.numel() == 0) return;
  const Tensor workspace = workspace_of(args, options, stream);
  if (workspace.defined()) {
    args.workspace = workspace.data_as<float>();
    args.workspace_floats = workspace.numel();
  }
  const DType in = q.dtype(), stored = cache.keys.dtype(), result = out.dtype();
  if (stream.device().is_cuda()) return attention_cuda(args, in, stored, result, stream);
  if (!stream.device().is_cpu()) fail_device(kOp, stream);
  run_host(
      stream, [=] { attention_cpu(args, in, stored, result); }, out, q, cache.keys, cache.values,
      positions, sequences);
}

std::int64_t attention_workspace(std::int64_t tokens, std::int64_t heads, std::int64_t head_dim,
                                 std::int64_t capacity, Device device) {
  // On cpu the scratch belongs to the threads.
  if (!device.is_cuda()) return 0;
  return attention_cuda_workspace(tokens, heads, head_dim, capacity, device);
}

}  // namespace tilewright
