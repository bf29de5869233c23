// SPDX-License-Identifier: Apache-2.0
// A table of functions that a *_simd.cpp exports once per instruction set, and the choice of one:
//   struct GeluTable { void (*row)(…); };
//   TW_ISA_TABLE(GeluTable, gelu_table)      const GeluTable& table = gelu_table();
// The *_simd.cpp defines tilewright::TW_ISA::gelu_table().
#pragma once

#include "tilewright/base/cpu.h"

#if defined(__x86_64__)
#define TW_ISA_TABLE(Type, function)                                             \
  namespace baseline {                                                           \
  const Type& function();                                                        \
  }                                                                              \
  namespace avx2 {                                                               \
  const Type& function();                                                        \
  }                                                                              \
  namespace avx512 {                                                             \
  const Type& function();                                                        \
  }                                                                              \
  inline const Type& function() {                                                \
    static const Type& table = cpu_isa() == Isa::kAvx512 ? avx512::function()    \
                               : cpu_isa() == Isa::kAvx2 ? avx2::function()      \
                                                         : baseline::function(); \
    return table;                                                                \
  }
#else
#define TW_ISA_TABLE(Type, function) \
  namespace baseline {               \
  const Type& function();            \
  }                                  \
  inline const Type& function() { return baseline::function(); }
#endif
