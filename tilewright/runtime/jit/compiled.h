// SPDX-License-Identifier: Apache-2.0
// A compiled kernel and its form on disk, shared by the cache and by packs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/runtime/jit/kernel.h"

namespace tilewright::jit {

struct Compiled {
  std::string lowered_name, cubin;
  int registers = 0, spill_bytes = 0, shared_bytes = 0, stack_bytes = 0;
  double compile_milliseconds = 0;
};

// Magic, version, fields, SHA-256 of everything before it.
std::string serialized(const Compiled& compiled);
// nullopt for anything that is not exactly what serialized() writes.
std::optional<Compiled> deserialized(std::string_view bytes);

struct Resources {
  int registers = 0, spill_bytes = 0, shared_bytes = 0, stack_bytes = 0;
  std::vector<std::string> performance_losses;  // lines with a code C75xx
};
// Reads what `--ptxas-options=-v` writes into the log; the largest of all functions.
Resources parse_ptxas_log(std::string_view log);

KernelReport report_of(const KernelSpec& spec, const Compiled& compiled, bool from_cache);

}  // namespace tilewright::jit
