// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/manifest.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "tilewright/base/text.h"

namespace tilewright {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::vector<KernelSpec> (*)()> ops;
};
Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

// Strided copies of tensors are part of every program.
std::vector<KernelSpec> copy_specs() {
  std::vector<KernelSpec> specs;
  for (const char* index : {"unsigned int", "unsigned long long"}) {
    for (const int piece : {1, 2, 4, 8})
      specs.push_back({"tilewright/runtime/copy.cuh",
                       str("tilewright::copy_strided<", piece, ", ", index, ">")});
  }
  return specs;
}

}  // namespace

void register_manifest(const char* op, std::vector<KernelSpec> (*specs)()) {
  const std::lock_guard lock(registry().mutex);
  registry().ops[op] = specs;
}

std::vector<ManifestEntry> manifest_by_op() {
  const std::lock_guard lock(registry().mutex);
  auto ops = registry().ops;
  ops.emplace("copy", copy_specs);
  std::vector<ManifestEntry> entries;
  for (const auto& [op, specs] : ops) entries.push_back({op, specs()});
  return entries;
}

std::vector<KernelSpec> manifest() {
  std::vector<KernelSpec> all;
  for (const ManifestEntry& entry : manifest_by_op()) {
    for (const KernelSpec& spec : entry.specs) {
      if (std::find(all.begin(), all.end(), spec) == all.end()) all.push_back(spec);
    }
  }
  return all;
}

}  // namespace tilewright
