// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/rope/rope_cuda.h"

#include "tilewright/ops/_core/kernel_names.h"

namespace tilewright {

namespace {

constexpr int kHeadsPerBlock = 4;

KernelSpec rope_kernel(DType x) {
  return {"tilewright/ops/rope/rope.cuh", instance("rope_heads", x)};
}
KernelSpec rope_append_kernel(DType qkv, DType cache) {
  return {"tilewright/ops/rope/rope.cuh", instance("rope_append_heads", qkv, cache)};
}

// Tokens along x, which has room for 2^31; heads along y.
LaunchShape shape_of(int64_t tokens, int64_t heads, const char* op) {
  const int64_t groups = ceil_div(heads, kHeadsPerBlock);
  TW_CHECK(groups <= 65535, InvalidArgument, op, ": got ", heads, " heads; wants at most ",
           65535 * kHeadsPerBlock);
  LaunchShape shape = row_of_blocks(tokens, 32 * kHeadsPerBlock, op);
  shape.grid.y = static_cast<std::uint32_t>(groups);
  shape.programmatic = worth_programmatic(tokens * groups);
  return shape;
}

}  // namespace

void rope_cuda(const RopeArgs& args, DType x, const Stream& stream) {
  if (args.tokens == 0 || args.heads == 0 || args.pairs == 0) return;
  launch(rope_kernel(x), shape_of(args.tokens, args.heads, "rope"), stream, args);
}

void rope_append_cuda(const RopeAppendArgs& args, DType qkv, DType cache, const Stream& stream) {
  const int64_t heads = args.heads + 2 * args.kv_heads;
  if (args.tokens == 0 || heads == 0 || args.head_dim == 0) return;
  launch(rope_append_kernel(qkv, cache), shape_of(args.tokens, heads, "rope_append"), stream, args);
}

KernelList rope_manifest() {
  KernelList kernels;
  for (DType x : kRealTypes) {
    kernels.push_back(rope_kernel(x));
    for (DType cache : kRealTypes) kernels.push_back(rope_append_kernel(x, cache));
  }
  return kernels;
}

}  // namespace tilewright
