// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/argmax/argmax.h"

#include <limits>

#include "tilewright/ops/_core/check.h"
#include "tilewright/ops/_core/host_work.h"
#include "tilewright/ops/argmax/argmax_cpu.h"
#include "tilewright/ops/argmax/argmax_cuda.h"

namespace tilewright {

void argmax_into(const Tensor& indices, const Tensor& x, const Stream& stream) {
  constexpr const char* kOp = "argmax";
  constexpr std::int64_t kMaxCols = std::numeric_limits<std::int32_t>::max();
  check(kOp, "x", x)
      .on(stream)
      .floating()
      .rank(2)
      .rows_contiguous()
      .that((x.size(1) >= 1 || x.size(0) == 0) && x.size(1) <= kMaxCols, "1 to 2147483647 columns");
  check(kOp, "indices", indices).on(stream).dtype({DType::i32}).shape({x.size(0)}).contiguous();
  if (x.size(0) == 0) return;
  ArgmaxArgs args{};
  args.x = x.data();
  args.indices = indices.data_as<std::int32_t>();
  args.rows = x.size(0);
  args.cols = static_cast<std::int32_t>(x.size(1));
  args.x_stride = row_stride(x);
  const DType dtype = x.dtype();
  if (stream.device().is_cuda()) return argmax_cuda(args, dtype, stream);
  if (!stream.device().is_cpu()) fail_device(kOp, stream);
  run_host(stream, [=] { argmax_cpu(args, dtype); }, indices, x);
}

Tensor argmax(const Tensor& x, const Stream& stream) {
  check("argmax", "x", x).rank(2);
  Tensor indices = Tensor::empty({x.size(0)}, DType::i32, stream);
  argmax_into(indices, x, stream);
  return indices;
}

}  // namespace tilewright
