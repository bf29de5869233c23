// SPDX-License-Identifier: Apache-2.0
// More than 16 rows of x: products by cuBLASLt, or by linear_tiles where it does not serve, and
// the rest of the op by the ops that do just that.
#include <algorithm>
#include <cmath>

#include "tilewright/ops/_core/kernel_names.h"
#include "tilewright/ops/add/add.h"
#include "tilewright/ops/linear/linear_cuda_internal.h"
#include "tilewright/ops/rms_norm/rms_norm.h"
#include "tilewright/ops/silu_mul/silu_mul.h"
#include "tilewright/runtime/jit/kernel.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

namespace {

constexpr std::int64_t kExpandedBytes = std::int64_t(256) << 20;

Tensor matrix(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t stride,
              DType dtype, const Stream& stream) {
  // Without an owner: the caller's tensors outlive the call, and freeing follows the stream.
  return Tensor::wrap(const_cast<void*>(data), {rows, cols}, {stride, 1}, dtype, stream.device());
}

Tensor vector(const LinearVector& values, std::int64_t size, const Stream& stream) {
  return Tensor::wrap(const_cast<void*>(values.data), {size}, values.dtype, stream.device());
}

DType product_type(DType weight) { return is_block_type(weight) ? DType::bf16 : weight; }

// x as the products read it: normalised, in the type that most of the weights multiply in.
Tensor prepared_x(const LinearCall& call, const Stream& stream) {
  const Tensor x = matrix(call.x.data, call.m, call.k, call.x_stride, call.x.dtype, stream);
  if (call.norm_weight.data == nullptr || call.k == 0) return x;
  const Tensor normal = Tensor::empty({call.m, call.k}, product_type(call.parts[0].dtype), stream);
  rms_norm_into(normal, x, vector(call.norm_weight, call.k, stream), call.norm_eps, stream);
  return normal;
}

// y = x * part^T (+ y when `add`, which holds the residual then).
struct Product {
  const LinearCall& call;
  const Stream& stream;
  Tensor x;

  LinearArgs tile_args(const LinearPart& part, const Tensor& y, const LinearVector& residual,
                       std::int64_t residual_stride) const {
    LinearCall plain = call;
    plain.parts[0] = part;
    plain.x = {x.data(), x.dtype()};
    plain.x_stride = x.stride(0);
    plain.y = y.data();
    plain.y_dtype = y.dtype();
    plain.y_stride = y.stride(0);
    plain.bias = plain.norm_weight = {};
    plain.residual = residual;
    plain.residual_stride = residual_stride;
    plain.silu_pairs = false;
    return linear_args(plain, 0, 1, 0);
  }

  // A part whose weight is plain and of x's type.
  bool by_library(const LinearPart& part, const Tensor& y, const LinearVector& residual,
                  std::int64_t residual_stride) const {
    if (part.dtype != x.dtype() || call.k == 0) return false;
    const bool add = residual.data != nullptr;
    return library_product(
        {x.data(), part.data, add ? residual.data : y.data(), y.data(), call.m, part.rows, call.k,
         x.stride(0), part.row_bytes / info(part.dtype).bytes, add ? residual_stride : y.stride(0),
         y.stride(0), x.dtype(), y.dtype(), add ? 1.0f : 0.0f},
        stream);
  }

  bool expanded(const LinearPart& part, const Tensor& y, const LinearVector& residual,
                std::int64_t residual_stride) const {
    if (!is_block_type(part.dtype) || x.dtype() == DType::f32 || call.k == 0) return false;
    if (!library_ready()) return false;
    const std::int64_t chunk =
        std::clamp<std::int64_t>(kExpandedBytes / (call.k * 2), 1, part.rows);
    const Tensor plain = Tensor::empty({chunk, call.k}, x.dtype(), stream);
    for (std::int64_t row = 0; row < part.rows; row += chunk) {
      LinearPart piece = part;
      piece.data = static_cast<const char*>(part.data) + row * part.row_bytes;
      piece.rows = std::min(chunk, part.rows - row);
      launch_expand(piece, call.k, plain.data(), x.dtype(), stream);
      piece.data = plain.data();
      piece.dtype = x.dtype();
      piece.row_bytes = call.k * 2;
      LinearVector rest = residual;
      if (rest.data != nullptr) {
        rest.data = static_cast<const char*>(rest.data) + row * info(rest.dtype).bytes;
      }
      if (!by_library(piece, y.slice(1, row, row + piece.rows), rest, residual_stride)) {
        TW_CHECK(row == 0, Internal, "linear: cuBLASLt took some rows of a weight only");
        return false;
      }
    }
    return true;
  }

  void run(const LinearPart& part, const Tensor& y, const LinearVector& residual,
           std::int64_t residual_stride) const {
    const bool library_adds = residual.data == nullptr || residual.dtype == y.dtype();
    if (library_adds && (by_library(part, y, residual, residual_stride) ||
                         expanded(part, y, residual, residual_stride))) {
      return;
    }
    launch_tiles(tile_args(part, y, residual, residual_stride), part.dtype, stream);
  }
};

void plain_parts(const LinearCall& call, const Stream& stream) {
  const Tensor y = matrix(call.y, call.m, call.n, call.y_stride, call.y_dtype, stream);
  const Product product{call, stream, prepared_x(call, stream)};
  std::int64_t column = 0;
  for (int i = 0; i < call.part_count; ++i) {
    const LinearPart& part = call.parts[i];
    if (part.rows == 0) continue;
    LinearVector residual = call.residual;
    if (residual.data != nullptr) {
      residual.data = static_cast<const char*>(residual.data) + column * info(residual.dtype).bytes;
    }
    product.run(part, y.slice(1, column, column + part.rows), residual, call.residual_stride);
    column += part.rows;
  }
  if (call.bias.data != nullptr) {
    add_into(y, y, vector(call.bias, call.n, stream).unsqueeze(0).broadcast_to({call.m, call.n}),
             stream);
  }
}

void silu_parts(const LinearCall& call, const Stream& stream) {
  const Tensor y = matrix(call.y, call.m, call.n, call.y_stride, call.y_dtype, stream);
  const Product product{call, stream, prepared_x(call, stream)};
  // Twice y's width: float32 between the product and the gate only where y is float32.
  const Tensor both = Tensor::empty({call.m, 2 * call.n}, call.y_dtype, stream);
  const Tensor gate = both.slice(1, 0, call.n), up = both.slice(1, call.n, 2 * call.n);
  product.run(call.parts[0], gate, {}, 0);
  product.run(call.parts[1], up, {}, 0);
  silu_mul_into(y, gate, up, stream);
  if (call.residual.data == nullptr) return;
  add_into(
      y, y,
      matrix(call.residual.data, call.m, call.n, call.residual_stride, call.residual.dtype, stream),
      stream);
}

}  // namespace

void many_rows(const LinearCall& call, const Stream& stream) {
  if (call.silu_pairs) return silu_parts(call, stream);
  plain_parts(call, stream);
}

}  // namespace tilewright
