// SPDX-License-Identifier: Apache-2.0
// Loads with a stated cache behaviour.
#pragma once

#include "tilewright/device/core/config.h"

namespace tilewright::ptx {

struct alignas(16) Word4 {
  uint32_t word[4];
};

// Past the L1: sees what earlier kernels wrote, whatever this multiprocessor has cached.
TW_DEVICE Word4 ld_global_cg(const void* pointer) {
  Word4 value;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.word[0]), "=r"(value.word[1]), "=r"(value.word[2]), "=r"(value.word[3])
               : "l"(pointer)
               : "memory");
  return value;
}

struct alignas(8) Word2 {
  uint32_t word[2];
};
TW_DEVICE Word2 ld_global_cg_word2(const void* pointer) {
  Word2 value;
  asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];"
               : "=r"(value.word[0]), "=r"(value.word[1])
               : "l"(pointer)
               : "memory");
  return value;
}

// Read-only data that is used once.
TW_DEVICE Word4 ld_global_stream(const void* pointer) {
  Word4 value;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.word[0]), "=r"(value.word[1]), "=r"(value.word[2]), "=r"(value.word[3])
               : "l"(pointer));
  return value;
}

TW_DEVICE void prefetch_l2(const void* pointer) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(pointer));
}

}  // namespace tilewright::ptx
