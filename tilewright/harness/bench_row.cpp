// SPDX-License-Identifier: Apache-2.0
#include "tilewright/harness/bench_row.h"

#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#ifndef TW_COMMIT
#define TW_COMMIT "unknown"
#endif

namespace tilewright {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &parts);
  return text;
}

std::string commit() {
  const char* given = std::getenv("TW_COMMIT");
  return given != nullptr ? given : TW_COMMIT;
}

}  // namespace

std::string to_json(const BenchRow& row) {
  nlohmann::ordered_json json{{"op", row.op},
                              {"variant", row.variant},
                              {"impl", row.impl},
                              {"device", row.device},
                              {"dtype", row.dtype},
                              {"size", row.size},
                              {"us", row.us},
                              {"gbps", row.gbps},
                              {"tflops", row.tflops},
                              {"frac", row.frac},
                              {"peak_gbps", row.peak_gbps},
                              {"peak_tflops", row.peak_tflops},
                              {"mode", row.mode},
                              {"commit", row.commit.empty() ? commit() : row.commit},
                              {"date", row.date.empty() ? today() : row.date}};
  for (const auto& [name, value] : row.extra) json[name] = value;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tilewright
