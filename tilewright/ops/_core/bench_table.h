// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "tilewright/harness/bench.h"

namespace tilewright {

// An op's *_bench.cpp: BenchCases <op>_bench(const BenchRequest&).
struct BenchEntry {
  const char* op;
  BenchCases (*cases)(const BenchRequest& request);
};
std::span<const BenchEntry> bench_table();

}  // namespace tilewright
