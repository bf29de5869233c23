// SPDX-License-Identifier: Apache-2.0
// For tests of ops that map rows to rows: runs a case list on every device.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "tilewright/base/text.h"
#include "tilewright/harness/compare.h"
#include "tilewright/harness/samples.h"

namespace tilewright {

struct RowsRun {
  const RowsCase& one;
  const Stream& stream;
  Guarded x, y;
  std::vector<double> input;  // x as the op sees it
};

// run(r) writes r.y from r.x; reference(r) gives what it should be, row-major.
inline void check_rows(const std::vector<RowsCase>& cases, const std::function<void(RowsRun&)>& run,
                       const std::function<std::vector<double>(RowsRun&)>& reference,
                       const std::function<Tolerance(const RowsCase&)>& bounds, float range = 4) {
  for (const Device device : test_devices()) {
    const Stream stream(device);
    for (const RowsCase& one : cases) {
      if (!fits(one.bytes(), device)) continue;
      SCOPED_TRACE(one.describe() + " on " + to_string(device));
      const Shape shape{one.rows, one.cols};
      const auto values = random_floats(one.rows * one.cols, 17, -range, range);
      RowsRun r{one, stream, Guarded(shape, one.in, one.layout, values, stream),
                Guarded(shape, one.out, one.layout, stream), rounded(values, one.in)};
      run(r);
      const Comparison result = compare(r.y.values(stream), reference(r), shape, bounds(one));
      EXPECT_TRUE(result.ok) << result.message;
      EXPECT_EQ(r.y.damaged_bytes(stream), 0) << "written outside the result";
    }
  }
}

}  // namespace tilewright
