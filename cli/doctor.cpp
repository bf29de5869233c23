// SPDX-License-Identifier: Apache-2.0
#include "doctor.h"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "terminal.h"
#include "tilewright/base/error.h"
#include "tilewright/runtime/library.h"

namespace tilewright::cli {

int run_doctor(const DoctorOptions& options) {
  const std::vector<Finding> findings = diagnose();
  bool healthy = true;
  nlohmann::json rows = nlohmann::json::array();
  for (const Finding& finding : findings) {
    healthy = healthy && finding.ok;
    rows.push_back({{"subject", finding.subject}, {"ok", finding.ok}, {"state", finding.state}});
    if (!finding.ok) rows.back()["remedy"] = finding.remedy;
    if (options.json) continue;
    std::printf("%-4s %-12s %s\n", finding.ok ? "ok" : "BAD", finding.subject.c_str(),
                finding.state.c_str());
    if (!finding.ok) std::printf("     %-12s -> %s\n", "", finding.remedy.c_str());
  }
  if (options.json) {
    std::cout << json_text(nlohmann::json{{"healthy", healthy}, {"findings", rows}}) << "\n";
  }
  return healthy ? 0 : exit_code(ErrorKind::kLibrary);
}

}  // namespace tilewright::cli
