// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/rope/rope.h"

#include "tilewright/base/error.h"
#include "tilewright/ops/_core/check.h"
#include "tilewright/ops/_core/host_work.h"
#include "tilewright/ops/rope/rope_cpu.h"
#include "tilewright/ops/rope/rope_cuda.h"

namespace tilewright {
namespace {

void check_frequencies(const char* op, const Tensor& frequencies, std::int64_t head_dim,
                       const Stream& stream) {
  check(op, "frequencies", frequencies)
      .on(stream)
      .dtype({DType::f32})
      .rank(1)
      .contiguous()
      .that(2 * frequencies.size(0) <= head_dim,
            str("at most head_dim / 2 = ", head_dim / 2, " elements"));
}

void check_cache(const char* op, const KeyValueCache& cache, const Stream& stream) {
  check(op, "cache.keys", cache.keys).on(stream).floating().rank(4).rows_contiguous().writable();
  check(op, "cache.values", cache.values)
      .on(stream)
      .dtype({cache.keys.dtype()})
      .shape(cache.keys.shape())
      .rows_contiguous()
      .writable();
}

RopeAppendArgs checked_append(const Tensor& qkv, const KeyValueCache& cache,
                              const Tensor& positions, const Tensor& sequences,
                              const Tensor& frequencies, RopePairing pairing,
                              const Stream& stream) {
  constexpr const char* kOp = "rope_append";
  check_cache(kOp, cache, stream);
  RopeAppendArgs args{};
  set_cache(args, cache);
  const std::int64_t pair_width = 2 * args.kv_heads * args.head_dim;
  check(kOp, "qkv", qkv)
      .on(stream)
      .floating()
      .rank(2)
      .rows_contiguous()
      .writable()
      .that(args.head_dim > 0 && qkv.size(1) >= pair_width && qkv.size(1) % args.head_dim == 0,
            str("[tokens, (heads + 2 * kv_heads) * head_dim] for a cache of ", args.kv_heads,
                " kv_heads and head_dim ", args.head_dim));
  args.tokens = qkv.size(0);
  args.heads = (qkv.size(1) - pair_width) / args.head_dim;
  check(kOp, "positions", positions)
      .on(stream)
      .dtype({DType::i32})
      .shape({args.tokens})
      .contiguous();
  check(kOp, "sequences", sequences)
      .on(stream)
      .dtype({DType::i32})
      .shape({args.tokens})
      .contiguous();
  if (frequencies.defined()) {
    check_frequencies(kOp, frequencies, args.head_dim, stream);
    args.frequencies = frequencies.data_as<const float>();
    args.pairs = frequencies.size(0);
  }
  args.qkv = qkv.data();
  args.positions = positions.data_as<const std::int32_t>();
  args.sequences = sequences.data_as<const std::int32_t>();
  args.qkv_stride = row_stride(qkv);
  args.interleaved = pairing == RopePairing::kInterleaved;
  return args;
}

RopeArgs checked_rope(const Tensor& x, const Tensor& positions, const Tensor& frequencies,
                      RopePairing pairing, const Stream& stream) {
  constexpr const char* kOp = "rope";
  check(kOp, "x", x).on(stream).floating().rank(3).rows_contiguous().writable();
  check(kOp, "positions", positions).on(stream).dtype({DType::i32}).shape({x.size(0)}).contiguous();
  check_frequencies(kOp, frequencies, x.size(2), stream);
  RopeArgs args{};
  args.x = x.data();
  args.positions = positions.data_as<const std::int32_t>();
  args.frequencies = frequencies.data_as<const float>();
  args.tokens = x.size(0);
  args.heads = x.size(1);
  args.head_dim = x.size(2);
  args.pairs = frequencies.size(0);
  args.token_stride = x.stride(0);
  args.head_stride = x.stride(1);
  args.interleaved = pairing == RopePairing::kInterleaved;
  return args;
}

}  // namespace

void rope_(const Tensor& x, const Tensor& positions, const Tensor& frequencies, RopePairing pairing,
           const Stream& stream) {
  const RopeArgs args = checked_rope(x, positions, frequencies, pairing, stream);
  if (x.numel() == 0 || args.pairs == 0) return;
  const DType dtype = x.dtype();
  if (stream.device().is_cuda()) return rope_cuda(args, dtype, stream);
  if (!stream.device().is_cpu()) fail_device("rope", stream);
  run_host(stream, [=] { rope_cpu(args, dtype); }, x, positions, frequencies);
}

void rope_append_(const Tensor& qkv, const KeyValueCache& cache, const Tensor& positions,
                  const Tensor& sequences, const Tensor& frequencies, RopePairing pairing,
                  const Stream& stream) {
  const RopeAppendArgs args =
      checked_append(qkv, cache, positions, sequences, frequencies, pairing, stream);
  if (qkv.numel() == 0) return;
  const DType type = qkv.dtype(), stored = cache.keys.dtype();
  if (stream.device().is_cuda()) return rope_append_cuda(args, type, stored, stream);
  if (!stream.device().is_cpu()) fail_device("rope_append", stream);
  run_host(
      stream, [=] { rope_append_cpu(args, type, stored); }, qkv, cache.keys, cache.values,
      positions, sequences, frequencies);
}

}  // namespace tilewright
