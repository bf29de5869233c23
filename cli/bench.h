// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tilewright::cli {

// `tw bench OP`: one op at these sizes and dtypes, against the copy limit of the same run.
struct BenchOptions {
  std::string op;
  std::vector<std::string> sizes;   // "16x4096"; empty: the op's own
  std::vector<std::string> dtypes;  // "bf16"; likewise
  std::string device = "auto";
  std::string mode = "stream";  // stream, graph or both
  int repeats = 50;
  int threads = 0;    // of the cpu device; 0: every core
  bool json = false;  // one JSON row a line, nothing else
};
int run_bench(const BenchOptions& options);

// Names that run_bench takes, each with its line of documentation.
struct BenchOp {
  std::string name, doc;
};
std::vector<BenchOp> bench_ops();

}  // namespace tilewright::cli
