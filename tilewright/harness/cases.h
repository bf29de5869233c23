// SPDX-License-Identifier: Apache-2.0
// Case lists: products of shapes, dtypes and layouts, made once and run on every device.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "tilewright/runtime/tensor.h"

namespace tilewright {

// How a tensor lies in memory: kStrided leaves a gap after every row, kMisaligned starts one
// element past a 64-byte boundary and leaves a gap of one element, so that rows start anywhere.
enum class Layout { kContiguous, kStrided, kMisaligned };
const char* name(Layout layout);

// [rows, cols] in two dtypes: of what is read and of what is written.
struct RowsCase {
  std::int64_t rows = 0, cols = 0;
  DType in = DType::f32, out = DType::f32;
  Layout layout = Layout::kContiguous;

  std::size_t bytes() const;     // read and written
  std::string describe() const;  // "257x1024 f16 to f32, strided"
};

struct DTypePair {
  DType in, out;
};

std::vector<RowsCase> rows_cases(std::initializer_list<std::int64_t> rows,
                                 std::initializer_list<std::int64_t> cols,
                                 std::initializer_list<DTypePair> dtypes,
                                 std::initializer_list<Layout> layouts);

inline constexpr std::initializer_list<DTypePair> kFloatPairs = {
    {DType::f32, DType::f32},  {DType::f16, DType::f16},  {DType::bf16, DType::bf16},
    {DType::f32, DType::bf16}, {DType::bf16, DType::f32}, {DType::f16, DType::f32}};
inline constexpr std::initializer_list<Layout> kAllLayouts = {Layout::kContiguous, Layout::kStrided,
                                                              Layout::kMisaligned};

// cpu, and cuda:0 when a usable GPU is there. TW_TEST_DEVICE (cpu, cuda) keeps one of them.
std::vector<Device> test_devices();
// Whether a case of so many bytes runs on the device: under 16 MB on emu, 1 GB on cpu.
bool fits(std::size_t bytes, Device device);

}  // namespace tilewright
