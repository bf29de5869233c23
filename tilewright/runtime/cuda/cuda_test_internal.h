// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "tilewright/runtime/device.h"

namespace tilewright {

// Skips, saying so, where no GPU is.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count(DeviceKind::kCuda) == 0) GTEST_SKIP() << "no GPU on this machine";
  }
};

}  // namespace tilewright
