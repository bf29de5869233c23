// SPDX-License-Identifier: Apache-2.0
// The limits that speeds are a fraction of, measured on this machine now.
#pragma once

#include <cstddef>

#include "tilewright/runtime/device.h"

namespace tilewright {

struct LimitOptions {
  std::size_t bytes =
      0;            // of the buffer; 0: 4 GiB on cuda, 256 MiB on cpu, less if memory is short
  int repeats = 7;  // the median counts
};

// GB/s (1e9), bytes read and written: a device-to-device copy on cuda; on cpu the better of memcpy
// and a copy with streaming stores, on all threads of the device. Allocates twice `bytes`.
double copy_bandwidth(Device device, const LimitOptions& options = {});
// GB/s of a plain read of the buffer on all threads. cpu only.
double read_bandwidth(const LimitOptions& options = {});

}  // namespace tilewright
