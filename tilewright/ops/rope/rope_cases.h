// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/harness/cases.h"
#include "tilewright/ops/rope/rope.h"

namespace tilewright {

struct RopeCase {
  std::int64_t tokens, heads, kv_heads, head_dim, pairs;
  DType dtype, cache;
  RopePairing pairing;
  Layout layout;
};

inline std::vector<RopeCase> rope_cases() {
  struct Size {
    std::int64_t tokens, heads, kv_heads, head_dim, pairs;
  };
  constexpr Size kSizes[] = {{0, 2, 1, 32, 16}, {1, 9, 3, 64, 32},   {5, 4, 4, 80, 20},
                             {3, 3, 1, 64, 0},  {70, 8, 2, 128, 64}, {2, 1, 1, 33, 16},
                             {2, 2, 1, 96, 48}};
  constexpr DTypePair kTypes[] = {{DType::f32, DType::f32},
                                  {DType::f32, DType::f16},
                                  {DType::f16, DType::f16},
                                  {DType::bf16, DType::bf16},
                                  {DType::bf16, DType::f16}};
  std::vector<RopeCase> cases;
  for (const Size& s : kSizes) {
    for (const DTypePair& type : kTypes) {
      for (const RopePairing pairing : {RopePairing::kHalfSplit, RopePairing::kInterleaved}) {
        for (const Layout layout : kAllLayouts) {
          cases.push_back({s.tokens, s.heads, s.kv_heads, s.head_dim, s.pairs, type.in, type.out,
                           pairing, layout});
        }
      }
    }
  }
  return cases;
}

}  // namespace tilewright
