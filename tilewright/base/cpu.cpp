// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/cpu.h"

#include <cstdlib>
#include <string>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

Isa best_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
  if (!avx2) return Isa::kBaseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vnni");
  return avx512 ? Isa::kAvx512 : Isa::kAvx2;
#else
  return Isa::kBaseline;
#endif
}

Isa choose_isa() {
  const Isa best = best_isa();
  const char* variable = std::getenv("TW_ISA");
  const std::string wanted = variable == nullptr ? "" : variable;
  if (wanted.empty()) return best;
  for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
    if (wanted != name(isa)) continue;
    TW_CHECK(isa <= best, Unsupported, "TW_ISA: got ", wanted, "; this processor has ", name(best),
             " at most");
    return isa;
  }
  TW_FAIL(InvalidArgument, "TW_ISA: got '", wanted, "'; takes baseline, avx2 or avx512");
}

}  // namespace

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::kBaseline: return "baseline";
    case Isa::kAvx2: return "avx2";
    case Isa::kAvx512: return "avx512";
  }
  return "unknown";
}

Isa cpu_isa() {
  static const Isa isa = choose_isa();
  return isa;
}

}  // namespace tilewright
