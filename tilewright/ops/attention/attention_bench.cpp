// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/error.h"
#include "tilewright/harness/samples.h"
#include "tilewright/ops/_core/bench_rows.h"
#include "tilewright/ops/attention/attention.h"

namespace tilewright {
namespace {

// The last `tokens` of a sequence of `length`.
struct Size {
  std::int64_t tokens, heads, kv_heads, head_dim, length;
};

std::function<void(int, const Stream&)> prepare(const Size& size, DType dtype, int rotations,
                                                const Stream& stream) {
  const Shape q_shape{size.tokens, size.heads, size.head_dim};
  const Shape cache{1, size.kv_heads, size.length, size.head_dim};
  const auto q = bench_tensors(1, q_shape, dtype, stream);
  const Tensor out = Tensor::empty(q_shape, dtype, stream);
  const auto keys = bench_tensors(rotations, cache, dtype, stream);
  const auto values = bench_tensors(rotations, cache, dtype, stream);
  std::vector<std::int32_t> places;
  for (std::int64_t t = 0; t < size.tokens; ++t) {
    places.push_back(std::int32_t(size.length - size.tokens + t));
  }
  const Tensor positions = tensor_of(places, stream);
  const Tensor sequences = Tensor::zeros({size.tokens}, DType::i32, stream);
  AttentionOptions options;
  const std::int64_t floats =
      attention_workspace(size.tokens, size.heads, size.head_dim, size.length, stream.device());
  if (floats > 0) options.workspace = Tensor::empty({floats}, DType::f32, stream);
  return [=](int i, const Stream& s) {
    const auto at = std::size_t(i);
    attention_into(out, q[0], {keys[at], values[at]}, positions, sequences, options, s);
  };
}

}  // namespace

// A size is tokens x heads x kv_heads x head_dim x length.
BenchCases attention_bench(const BenchRequest& request) {
  BenchCases cases;
  for (const std::string& text :
       sizes_of(request, {"1x9x3x64x512", "1x32x8x128x4096", "512x9x3x64x512"})) {
    const auto n = parse_size(text, 5, "tokens x heads x kv_heads x head_dim x length");
    const Size size = {n[0], n[1], n[2], n[3], n[4]};
    TW_CHECK(size.tokens <= size.length, InvalidArgument, "attention: size: got '", text,
             "'; takes no more tokens than the length");
    for (const DType dtype : dtypes_of(request, {DType::f16})) {
      // Pairs of a query and a key that it sees.
      const double pairs =
          double(size.tokens) * (double(size.length) - double(size.tokens - 1) / 2);
      BenchCase one;
      one.op = size.tokens == 1 ? "attention.decode" : "attention";
      one.dtype = name(dtype);
      one.size = text;
      one.bytes = double(bytes_of(dtype, 2 * size.length * size.kv_heads * size.head_dim +
                                             2 * size.tokens * size.heads * size.head_dim));
      one.flops = 4 * pairs * double(size.heads * size.head_dim);
      one.prepare = [=](int rotations, const Stream& stream) {
        return prepare(size, dtype, rotations, stream);
      };
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

}  // namespace tilewright
