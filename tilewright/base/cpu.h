// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tilewright {

// Instruction sets that *_simd.cpp files are compiled for, least first.
enum class Isa {
  kBaseline,  // x86-64-v2; the plain build elsewhere
  kAvx2,      // x86-64-v3: AVX2, FMA, F16C, BMI
  kAvx512,    // x86-64-v4 and AVX512-VNNI
};
std::string_view name(Isa isa);

// The best set that this processor has, or the lower one that the environment variable TW_ISA
// (baseline, avx2, avx512) asks for. Throws InvalidArgument for another word, Unsupported for a
// set that the processor lacks. Decided once.
Isa cpu_isa();

}  // namespace tilewright
