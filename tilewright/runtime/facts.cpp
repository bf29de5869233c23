// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "tilewright/base/error.h"
#include "tilewright/runtime/backend.h"
#include "tilewright/runtime/diagnosis.h"
#include "tilewright/runtime/jit/nvrtc.h"
#include "tilewright/runtime/jit/pack.h"
#include "tilewright/runtime/library_search.h"

namespace tilewright {
namespace {

// Any PCI display or 3-D controller of NVIDIA (vendor 0x10de, class 0x03).
bool nvidia_on_bus() {
  std::error_code error;
  std::filesystem::directory_iterator it("/sys/bus/pci/devices", error), end;
  for (; !error && it != end; it.increment(error)) {
    const auto first_word = [&](const char* file) {
      std::string word;
      std::ifstream(it->path() / file) >> word;
      return word;
    };
    if (first_word("vendor") == "0x10de" && first_word("class").starts_with("0x03")) return true;
  }
  return std::filesystem::exists("/dev/nvidiactl", error);
}

bool is_named(LibraryId id) {
  return !detail::process_environment(detail::library_spec(id).variable).empty();
}

void gather_driver(MachineFacts& facts) {
  facts.driver = library_status(LibraryId::kCuda);
  facts.driver_was_named = is_named(LibraryId::kCuda);
  facts.gpu_on_bus = nvidia_on_bus();
  if (!facts.driver.loaded) return;
  try {
    reinterpret_cast<int (*)(int*)>(library_symbol(LibraryId::kCuda, "cuDriverGetVersion"))(
        &facts.driver_version);
    const int count = device_count(DeviceKind::kCuda);
    facts.driver_problem = detail::cuda_absence();
    for (int i = 0; i < count; ++i) {
      const DeviceProperties& gpu = properties(Device::cuda(i));
      facts.gpus.push_back({gpu.name, gpu.arch});
    }
  } catch (const Error& error) {
    facts.driver_problem = error.what();
  }
}

void gather_nvrtc(MachineFacts& facts) {
  facts.nvrtc = library_status(LibraryId::kNvrtc);
  facts.nvrtc_was_named = is_named(LibraryId::kNvrtc);
  if (!facts.nvrtc.loaded) return;
  try {
    const jit::NvrtcInfo& nvrtc = jit::nvrtc_info();
    facts.nvrtc_version = nvrtc.major * 1000 + nvrtc.minor * 10;
    facts.nvrtc_archs = nvrtc.archs;
  } catch (const Error& error) {
    facts.nvrtc_problem = error.what();
  }
}

}  // namespace

MachineFacts gather_facts() {
  MachineFacts facts;
  gather_driver(facts);
  gather_nvrtc(facts);
  facts.cublas_lt = library_status(LibraryId::kCublasLt);
  facts.pack = jit::pack_path();
  return facts;
}

}  // namespace tilewright
