// SPDX-License-Identifier: Apache-2.0
#include "tilewright/harness/samples.h"
#include "tilewright/ops/_core/bench_rows.h"
#include "tilewright/ops/embedding/embedding.h"

namespace tilewright {

// A size is tokens x dim; the table has 49152 rows and the result is f32.
BenchCases embedding_bench(const BenchRequest& request) {
  constexpr std::int64_t kVocab = 49152;
  BenchCases cases;
  for (const std::string& text : sizes_of(request, {"1x576", "512x576"})) {
    const auto n = parse_size(text, 2, "tokens x dim");
    for (const DType dtype : dtypes_of(request, {DType::f16, DType::q8_0})) {
      BenchCase one;
      one.op = "embedding";
      one.dtype = name(dtype);
      one.size = text + " vocab=49152";
      one.bytes = double(bytes_of(dtype, n[0] * n[1])) + double(n[0] * n[1]) * 4;
      one.prepare = [=](int, const Stream& stream) -> std::function<void(int, const Stream&)> {
        const Tensor table = bench_tensors(1, {kVocab, n[1]}, dtype, stream)[0];
        const Tensor y = Tensor::empty({n[0], n[1]}, DType::f32, stream);
        // Other rows at every call.
        std::vector<Tensor> ids;
        for (std::uint64_t i = 0; i < 64; ++i) {
          ids.push_back(tensor_of(random_integers(n[0], i, 0, kVocab), stream));
        }
        return [=](int i, const Stream& s) {
          embedding_into(y, table, ids[std::size_t(i) % ids.size()], s);
        };
      };
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

}  // namespace tilewright
