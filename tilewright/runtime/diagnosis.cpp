// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/diagnosis.h"

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

std::string version_text(int version) { return str(version / 1000, ".", version % 1000 / 10); }

std::string last_reason(const LibraryStatus& status) {
  return status.tried.empty() ? "nowhere to be found" : status.tried.back();
}

Finding good(const char* subject, std::string state) {
  return {true, subject, std::move(state), ""};
}
Finding bad(const char* subject, std::string state, std::string remedy) {
  return {false, subject, std::move(state), std::move(remedy)};
}

std::string found_at(const LibraryStatus& status) {
  return str(status.version, " (", status.path, ", ", status.found_by, ")");
}

Finding examine_driver(const MachineFacts& facts) {
  if (!facts.driver.loaded) {
    const std::string state = str("no CUDA driver: ", last_reason(facts.driver));
    if (facts.driver_was_named)
      return bad("driver", state, str("correct or unset ", facts.driver.variable));
    if (facts.gpu_on_bus)
      return bad("driver", str("an NVIDIA GPU is in this machine, but ", state),
                 facts.driver.remedy);
    return good("driver", "none, and no NVIDIA GPU is listed: cpu only");
  }
  if (facts.driver_version > 0 && facts.driver_version < 12000)
    return bad("driver", str("for CUDA ", version_text(facts.driver_version)),
               "update the NVIDIA driver: CUDA 12.0 (525) or later is needed");
  if (!facts.driver_problem.empty() && (facts.gpu_on_bus || facts.driver_was_named))
    return bad("driver", str(found_at(facts.driver), ": ", facts.driver_problem),
               "check nvidia-smi, CUDA_VISIBLE_DEVICES and the kernel module's version");
  return good("driver", found_at(facts.driver));
}

Finding examine_gpus(const MachineFacts& facts) {
  if (facts.gpus.empty()) return good("GPU", "no GPU: cpu only");
  std::string names;
  for (const GpuFact& gpu : facts.gpus)
    names += str(names.empty() ? "" : ", ", gpu.name, " (", to_string(gpu.arch), ")");
  for (const GpuFact& gpu : facts.gpus) {
    if (gpu.arch.number() < 75)
      return bad("GPU", names, str(gpu.name, " is older than sm_75: use the other devices or cpu"));
  }
  return good("GPU", names);
}

Finding examine_nvrtc(const MachineFacts& facts) {
  if (facts.nvrtc.loaded && facts.nvrtc_problem.empty())
    return good("NVRTC", found_at(facts.nvrtc));
  const std::string state = facts.nvrtc.loaded
                                ? str(found_at(facts.nvrtc), ": ", facts.nvrtc_problem)
                                : str("no NVRTC: ", last_reason(facts.nvrtc));
  if (facts.nvrtc_was_named)
    return bad("NVRTC", state, str("correct or unset ", facts.nvrtc.variable));
  if (facts.gpus.empty()) return good("NVRTC", "none; needed only to compile kernels for a GPU");
  if (!facts.pack.empty())
    return good("NVRTC", str("none; the pack ", facts.pack,
                             " holds our kernels, and nothing else "
                             "can be compiled here"));
  return bad("NVRTC", state, facts.nvrtc.remedy);
}

// A cubin of a newer major version does not load on an older driver.
void examine_fit(const MachineFacts& facts, std::vector<Finding>& findings) {
  if (!facts.nvrtc.loaded || facts.nvrtc_version == 0) return;
  const int driver_major = facts.driver_version / 1000;
  const int nvrtc_major = facts.nvrtc_version / 1000;
  if (facts.driver.loaded && driver_major >= 12 && driver_major < nvrtc_major) {
    findings.push_back(
        bad("fit",
            str("the driver is for CUDA ", version_text(facts.driver_version),
                ", older than NVRTC ", version_text(facts.nvrtc_version)),
            str("update the driver to one for CUDA ", nvrtc_major, ".0 or later, or use NVRTC ",
                driver_major, ".x: `pip install nvidia-cuda-nvrtc-cu", driver_major,
                "`, or set TW_NVRTC to it")));
  } else if (!facts.gpus.empty()) {
    findings.push_back(good("fit", "the driver runs what this NVRTC compiles"));
  }
}

void examine_archs(const MachineFacts& facts, std::vector<Finding>& findings) {
  if (facts.nvrtc_archs.empty()) return;
  const int newest = *std::max_element(facts.nvrtc_archs.begin(), facts.nvrtc_archs.end());
  for (const GpuFact& gpu : facts.gpus) {
    const auto& known = facts.nvrtc_archs;
    if (std::find(known.begin(), known.end(), gpu.arch.number()) != known.end()) continue;
    const bool newer = gpu.arch.number() > newest;
    findings.push_back(bad(
        "architecture",
        str(gpu.name, " is ", to_string(gpu.arch), ", which NVRTC ",
            version_text(facts.nvrtc_version), " does not know (it knows up to sm_", newest, ")"),
        newer ? "install a newer NVRTC: `pip install -U nvidia-cuda-nvrtc`, or set TW_NVRTC"
              : "install an older NVRTC: `pip install nvidia-cuda-nvrtc-cu12`, and set TW_NVRTC"));
  }
}

}  // namespace

std::vector<Finding> diagnose(const MachineFacts& facts) {
  std::vector<Finding> findings{examine_driver(facts), examine_gpus(facts), examine_nvrtc(facts)};
  examine_fit(facts, findings);
  examine_archs(facts, findings);
  if (facts.cublas_lt.loaded)
    findings.push_back(good("cuBLASLt", found_at(facts.cublas_lt)));
  else
    findings.push_back(good("cuBLASLt", "none: our own matrix kernels are used"));
  if (!facts.pack.empty()) findings.push_back(good("pack", facts.pack));
  return findings;
}

std::vector<Finding> diagnose() { return diagnose(gather_facts()); }

}  // namespace tilewright
