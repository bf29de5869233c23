// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <cstdio>
#include <iostream>

#include "terminal.h"
#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/harness/limits.h"
#include "tilewright/ops/_core/bench_table.h"
#include "tilewright/ops/_core/schema.h"

namespace tilewright::cli {
namespace {

const BenchEntry& find_entry(const std::string& op) {
  std::string known;
  for (const BenchEntry& entry : bench_table()) {
    if (op == entry.op) return entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.op);
  }
  TW_FAIL(InvalidArgument, "bench: got op '", op, "'; takes ", known);
}

std::vector<LaunchMode> modes_of(const std::string& mode) {
  if (mode == "stream") return {LaunchMode::kStream};
  if (mode == "graph") return {LaunchMode::kGraph};
  TW_CHECK(mode == "both", InvalidArgument, "bench: --mode: got '", mode,
           "'; takes stream, graph or both");
  return {LaunchMode::kStream, LaunchMode::kGraph};
}

void print_header(const BenchLimits& limits) {
  std::printf("copy limit %.1f GB/s, read and written\n", limits.copy_gbps);
  std::printf("%-18s %-20s %-6s %-24s %-7s %12s %10s %10s %7s\n", "op", "variant", "dtype", "size",
              "mode", "us", "GB/s", "TFLOP/s", "limit");
}

void print_row(const BenchRow& row) {
  std::printf("%-18s %-20s %-6s %-24s %-7s %12.2f %10.2f %10.4f %6.1f%%\n", row.op.c_str(),
              row.variant.c_str(), row.dtype.c_str(), row.size.c_str(), row.mode.c_str(), row.us,
              row.gbps, row.tflops, 100 * row.frac);
  std::fflush(stdout);
}

}  // namespace

std::vector<BenchOp> bench_ops() {
  std::vector<BenchOp> ops;
  for (const BenchEntry& entry : bench_table()) {
    std::string doc;
    for (const OpInfo& op : op_table()) {
      if (std::string(op.name) == entry.op) doc = op.doc;
    }
    ops.push_back({entry.op, doc});
  }
  return ops;
}

int run_bench(const BenchOptions& options) {
  const BenchEntry& entry = find_entry(options.op);
  const std::vector<LaunchMode> modes = modes_of(options.mode);
  if (options.threads > 0) set_thread_count(options.threads);
  BenchRequest request;
  request.device = Device::parse(options.device);
  request.sizes = options.sizes;
  for (const std::string& dtype : options.dtypes) request.dtypes.push_back(parse_dtype(dtype));
  const BenchCases cases = entry.cases(request);  // before the limit: its errors come at once
  const Stream stream(request.device);
  BenchLimits limits;
  limits.copy_gbps = copy_bandwidth(request.device);
  if (!options.json) print_header(limits);
  TimingOptions timing;
  timing.repeats = options.repeats;
  for (const BenchCase& one : cases) {
    for (const LaunchMode mode : modes) {
      check_interrupted("measuring");
      timing.mode = mode;
      const BenchRow row = measure(one, stream, limits, timing);
      options.json ? void(std::cout << to_json(row) << std::endl) : print_row(row);
    }
  }
  return 0;
}

}  // namespace tilewright::cli
