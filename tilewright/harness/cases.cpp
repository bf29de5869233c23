// SPDX-License-Identifier: Apache-2.0
#include "tilewright/harness/cases.h"

#include <cstdlib>

#include "tilewright/base/error.h"

namespace tilewright {

const char* name(Layout layout) {
  switch (layout) {
    case Layout::kContiguous: return "contiguous";
    case Layout::kStrided: return "strided";
    case Layout::kMisaligned: return "misaligned";
  }
  return "unknown";
}

std::size_t RowsCase::bytes() const {
  return bytes_of(in, rows * cols) + bytes_of(out, rows * cols);
}

std::string RowsCase::describe() const {
  return str(rows, "x", cols, " ", in, " to ", out, ", ", name(layout));
}

std::vector<RowsCase> rows_cases(std::initializer_list<std::int64_t> rows,
                                 std::initializer_list<std::int64_t> cols,
                                 std::initializer_list<DTypePair> dtypes,
                                 std::initializer_list<Layout> layouts) {
  std::vector<RowsCase> cases;
  for (const Layout layout : layouts) {
    for (const DTypePair& dtype : dtypes) {
      for (const std::int64_t row_count : rows) {
        for (const std::int64_t col_count : cols) {
          cases.push_back({row_count, col_count, dtype.in, dtype.out, layout});
        }
      }
    }
  }
  return cases;
}

std::vector<Device> test_devices() {
  const char* variable = std::getenv("TW_TEST_DEVICE");
  const std::string only = variable == nullptr ? "" : variable;
  TW_CHECK(only.empty() || only == "cpu" || only == "cuda", InvalidArgument,
           "TW_TEST_DEVICE: got '", only, "'; takes cpu or cuda");
  std::vector<Device> devices;
  if (only != "cuda") devices.push_back(Device::cpu());
  if (only != "cpu" && device_count(DeviceKind::kCuda) > 0) devices.push_back(Device::cuda(0));
  return devices;
}

bool fits(std::size_t bytes, Device device) {
  if (device.kind == DeviceKind::kEmu) return bytes < (std::size_t{16} << 20);
  return !device.is_cpu() || bytes < (std::size_t{1} << 30);
}

}  // namespace tilewright
