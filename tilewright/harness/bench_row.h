// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tilewright {

// One measurement, one line of JSON. `op` is an op folder's name with a suffix for its parts;
// `size` the dimensions joined by x, outermost first, then key=value pairs; `impl` tilewright or a
// peer; `mode` stream or graph; `frac` the fraction of the limit measured in the same run.
struct BenchRow {
  std::string op, variant, impl = "tilewright", device, dtype, size;
  double us = 0;
  double gbps = 0, tflops = 0, frac = 0;
  double peak_gbps = 0, peak_tflops = 0;
  std::string mode = "stream", commit, date;
  std::vector<std::pair<std::string, double>> extra;  // further figures, by name
};

// One line, without its end. `commit` and `date` are filled in when empty.
std::string to_json(const BenchRow& row);

}  // namespace tilewright
