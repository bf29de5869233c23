// SPDX-License-Identifier: Apache-2.0
#include "tilewright/harness/bench.h"

#include <charconv>

#include "tilewright/base/error.h"

namespace tilewright {

std::vector<std::int64_t> parse_size(const std::string& text, std::size_t count,
                                     const char* names) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  bool ok = true;
  while (ok) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    ok = error == std::errc() && number >= 1;
    numbers.push_back(number);
    if (next == end) break;
    ok = ok && *next == 'x' && next + 1 != end;
    at = next + 1;
  }
  TW_CHECK(ok && numbers.size() == count, InvalidArgument, "size: got '", text, "'; takes ", names,
           ", such as ",
           count == 1   ? "4096"
           : count == 2 ? "16x4096"
                        : "1x9x64x512");
  return numbers;
}

std::vector<std::string> sizes_of(const BenchRequest& request,
                                  std::initializer_list<const char*> standard) {
  if (!request.sizes.empty()) return request.sizes;
  return {standard.begin(), standard.end()};
}

std::vector<DType> dtypes_of(const BenchRequest& request, std::initializer_list<DType> standard) {
  return request.dtypes.empty() ? std::vector<DType>(standard) : request.dtypes;
}

BenchRow measure(const BenchCase& one, const Stream& stream, const BenchLimits& limits,
                 const TimingOptions& options) {
  const int rotations = rotations_for(std::size_t(one.bytes), stream.device());
  const auto call = one.prepare(rotations, stream);
  const Timing timing = time_calls(call, rotations, stream, options);
  BenchRow row;
  row.op = one.op;
  row.variant = one.variant;
  row.device = to_string(stream.device());
  row.dtype = one.dtype;
  row.size = one.size;
  row.us = timing.median_us;
  row.gbps = one.bytes / timing.median_us / 1e3;
  row.tflops = one.flops / timing.median_us / 1e6;
  row.peak_gbps = limits.copy_gbps;
  row.frac = limits.copy_gbps > 0 ? row.gbps / limits.copy_gbps : 0;
  row.mode = name(options.mode);
  row.extra = {{"p99_us", timing.p99_us}, {"max_us", timing.max_us}};
  return row;
}

}  // namespace tilewright
