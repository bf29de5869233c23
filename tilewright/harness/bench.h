// SPDX-License-Identifier: Apache-2.0
// What `tw bench` measures: an op names its cases, the harness times them and sets them beside the
// limit that was measured in the same run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/harness/bench_row.h"
#include "tilewright/harness/timing.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

struct BenchRequest {
  Device device;
  std::vector<std::string> sizes;  // as given on the command line; empty: the op's own
  std::vector<DType> dtypes;       // likewise
};

// One measurement to make. `prepare` makes the operands of all rotations and returns the call.
struct BenchCase {
  std::string op, variant, dtype, size;
  double bytes = 0, flops = 0;  // of one call: what it must read and write, and compute
  std::function<std::function<void(int rotation, const Stream& stream)>(int rotations,
                                                                        const Stream& stream)>
      prepare;
};
using BenchCases = std::vector<BenchCase>;

// "257x1024" or "1x9x3x64x512" as numbers; throws InvalidArgument unless `count` of them, each at
// least 1. `names` says in the message what they are: "rows x cols".
std::vector<std::int64_t> parse_size(const std::string& text, std::size_t count, const char* names);
// The request's sizes or, when it has none, `standard`.
std::vector<std::string> sizes_of(const BenchRequest& request,
                                  std::initializer_list<const char*> standard);
std::vector<DType> dtypes_of(const BenchRequest& request, std::initializer_list<DType> standard);

struct BenchLimits {
  double copy_gbps = 0;  // 0: not measured
};
BenchRow measure(const BenchCase& one, const Stream& stream, const BenchLimits& limits,
                 const TimingOptions& options);

}  // namespace tilewright
