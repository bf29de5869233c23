// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Gives `work` to a cpu stream and keeps the operands' memory alive as long as it may run or be
// replayed: run_host(stream, [=] { rms_norm_cpu(args, dtype); }, y, x, weight).
template <class Work, class... Tensors>
void run_host(const Stream& stream, const Work& work, const Tensors&... operands) {
  stream.run(
      [work, keep = std::array<Buffer, sizeof...(Tensors)>{operands.buffer()...}] { work(); });
}

}  // namespace tilewright
