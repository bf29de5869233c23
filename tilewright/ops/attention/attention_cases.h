// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/harness/cases.h"

namespace tilewright {

struct AttentionCase {
  std::int64_t tokens;  // of each sequence, the last ones of its `length` entries
  std::int64_t sequences, heads, kv_heads, head_dim, length, capacity;
  DType q = DType::f32, cache = DType::f32, out = DType::f32;
  Layout layout = Layout::kContiguous;
};

inline std::vector<AttentionCase> attention_cases() {
  // tokens, sequences, heads, kv_heads, head_dim, length, capacity
  const AttentionCase sizes[] = {
      {1, 1, 9, 3, 64, 1, 8},       {1, 1, 9, 3, 64, 63, 64},     {1, 1, 9, 3, 64, 700, 1024},
      {1, 3, 8, 2, 128, 300, 512},  {1, 1, 32, 8, 64, 257, 300},  {7, 2, 4, 4, 40, 90, 96},
      {65, 1, 9, 3, 64, 65, 65},    {130, 1, 9, 3, 64, 330, 400}, {33, 2, 6, 1, 256, 70, 80},
      {16, 1, 12, 12, 64, 16, 32},  {5, 1, 4, 2, 32, 40, 40},     {50, 1, 71, 1, 64, 50, 64},
      {3, 1, 2, 1, 96, 1030, 1100}, {0, 1, 2, 1, 64, 4, 8}};
  constexpr DType kTypes[][3] = {{DType::f32, DType::f32, DType::f32},
                                 {DType::f32, DType::f16, DType::f32},
                                 {DType::f16, DType::f16, DType::f16},
                                 {DType::bf16, DType::bf16, DType::bf16},
                                 {DType::f32, DType::bf16, DType::bf16}};
  std::vector<AttentionCase> cases;
  for (const Layout layout : kAllLayouts) {
    for (const auto& type : kTypes) {
      for (AttentionCase one : sizes) {
        one.q = type[0];
        one.cache = type[1];
        one.out = type[2];
        one.layout = layout;
        cases.push_back(one);
      }
    }
  }
  return cases;
}

}  // namespace tilewright
