// SPDX-License-Identifier: Apache-2.0
// The cases of linear, for every device, and the sizes of its benchmark.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tilewright/base/dtype.h"
#include "tilewright/base/text.h"
#include "tilewright/ops/linear/linear_rounding.h"

namespace tilewright {

struct LinearCase {
  std::int64_t m = 1, k = 32;
  std::vector<std::int64_t> rows = {16};  // of each weight
  std::vector<DType> weights = {DType::f32};
  DType x = DType::f32, y = DType::f32;
  bool bias = false, residual = false, residual_is_y = false, norm = false, silu_pairs = false;
  bool strided = false;     // rows of x, y, residual and plain weights further apart than needed
  bool misaligned = false;  // operands start one element (weights: one byte) off
  ActivationRounding activations = ActivationRounding::kSixteenBit;
};

inline std::ostream& operator<<(std::ostream& out, const LinearCase& c) {
  out << c.m << 'x' << c.k << " x=" << c.x << " y=" << c.y;
  for (std::size_t i = 0; i < c.rows.size(); ++i)
    out << ' ' << c.weights[i] << '[' << c.rows[i] << ']';
  const bool flags[] = {c.bias,       c.residual, c.residual_is_y, c.norm,
                        c.silu_pairs, c.strided,  c.misaligned};
  const char* names[] = {" bias",       " residual", " residual=y", " norm",
                         " silu_pairs", " strided",  " misaligned"};
  for (int i = 0; i < 7; ++i) out << (flags[i] ? names[i] : "");
  if (c.activations == ActivationRounding::kEightBit) out << " 8-bit x";
  return out;
}

inline const std::vector<DType>& linear_weight_types() {
  static const std::vector<DType> types{DType::f32,  DType::f16,  DType::bf16, DType::q8_0,
                                        DType::q4_0, DType::q4_1, DType::q6_k};
  return types;
}

// Awkward shapes for one weight type; `deep` fills whole blocks.
inline void add_shape_cases(std::vector<LinearCase>& cases, DType type) {
  const std::int64_t deep = type == DType::q6_k ? 512 : 576;
  for (const std::int64_t m : {1, 2, 3, 5, 8, 17, 65})
    cases.push_back({.m = m, .k = deep, .rows = {33}, .weights = {type}});
  for (const std::int64_t rows : {1, 7, 8, 16, 40})
    for (const std::int64_t m : {1, 4})
      cases.push_back({.m = m, .k = deep, .rows = {rows}, .weights = {type}});
  const std::int64_t unit = info(type).block == 1 ? 1 : info(type).block;
  for (const std::int64_t units : {1, 3, 11, 29})
    for (const std::int64_t m : {1, 6})
      cases.push_back({.m = m, .k = unit * units, .rows = {19}, .weights = {type}});
  for (const std::int64_t m : {0, 3}) {
    cases.push_back({.m = m, .k = deep, .rows = {0}, .weights = {type}});
    cases.push_back({.m = m, .k = 0, .rows = {5}, .weights = {type}, .bias = true});
  }
}

// Options, layouts and dtypes of x and y.
inline void add_option_cases(std::vector<LinearCase>& cases, DType type) {
  const std::int64_t k = 512;
  for (const std::int64_t m : {1, 7}) {
    LinearCase one{.m = m, .k = k, .rows = {21}, .weights = {type}};
    const auto add = [&](auto change) {
      cases.push_back(one);
      change(cases.back());
    };
    add([](LinearCase& c) { c.bias = true; });
    add([](LinearCase& c) { c.residual = true; });
    add([](LinearCase& c) { c.bias = c.residual = c.residual_is_y = true; });
    add([](LinearCase& c) { c.norm = true; });
    add([](LinearCase& c) { c.strided = c.residual = true; });
    add([](LinearCase& c) { c.misaligned = c.bias = true; });
    add([](LinearCase& c) { c.x = c.y = DType::f16, c.norm = c.bias = true; });
    add([](LinearCase& c) { c.x = c.y = DType::bf16, c.residual = true; });
    cases.push_back({.m = m,
                     .k = k,
                     .rows = {35, 35},
                     .weights = {type, type},
                     .norm = true,
                     .silu_pairs = true});
    cases.push_back({.m = m,
                     .k = k,
                     .rows = {17, 5, 16},
                     .weights = {type, type, type},
                     .bias = true,
                     .norm = true});
  }
}

inline std::vector<LinearCase> linear_cases() {
  std::vector<LinearCase> cases;
  for (const DType type : linear_weight_types()) {
    add_shape_cases(cases, type);
    add_option_cases(cases, type);
  }
  for (const std::int64_t m : {1, 9}) {
    cases.push_back({.m = m,
                     .k = 256,
                     .rows = {16, 9, 24},
                     .weights = {DType::q4_1, DType::f16, DType::q6_k},
                     .norm = true});
    cases.push_back({.m = m,
                     .k = 1536,
                     .rows = {48},
                     .weights = {DType::q4_1},
                     .residual = true,
                     .residual_is_y = true});
  }
  return cases;
}

struct LinearBenchSize {
  std::string name;
  std::int64_t m = 0, n = 0, k = 0;
  DType weight = DType::f32;
  // Read once and written once: weights, x and y (float32).
  double bytes() const {
    return double(n) * double(k) / info(weight).block * info(weight).bytes +
           4.0 * double(m * (k + n));
  }
  double flops() const { return 2.0 * double(m) * double(n) * double(k); }
};

// The matrices of SmolLM2-135M as its file stores them or, when not `small`, of Llama-3.1-8B.
inline std::vector<LinearBenchSize> linear_bench_sizes(std::int64_t m, bool small) {
  if (small)
    return {{"smollm2.qkv", m, 960, 576, DType::q4_1},
            {"smollm2.out", m, 576, 576, DType::q4_1},
            {"smollm2.gate_up", m, 3072, 576, DType::q4_1},
            {"smollm2.down", m, 576, 1536, DType::q4_1},
            {"smollm2.head", m, 49152, 576, DType::q8_0}};
  return {{"llama8b.qkv", m, 6144, 4096, DType::bf16},
          {"llama8b.out", m, 4096, 4096, DType::bf16},
          {"llama8b.gate_up", m, 28672, 4096, DType::bf16},
          {"llama8b.down", m, 4096, 14336, DType::bf16}};
}

}  // namespace tilewright
