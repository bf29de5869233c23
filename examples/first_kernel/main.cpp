// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/runtime/jit/kernel.h"

constexpr const char* kSource = R"(__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
})";

int main() try {
  const tilewright::Stream stream(tilewright::Device::cuda(0));
  const auto saxpy = tilewright::Kernel::compile(kSource, "saxpy", stream);
  std::vector<float> values(1000, 1.5f);
  const auto x =
      tilewright::Tensor::from_host(values.data(), {1000}, tilewright::DType::f32, stream);
  const auto y = tilewright::Tensor::zeros({1000}, tilewright::DType::f32, stream);
  saxpy({.grid = {4}, .block = {256}}, stream, 2.0f, x, y, 1000);  // each argument is checked
  y.to_host(values.data(), stream);
  std::printf("y[0] = %g, y[999] = %g\n", values.front(), values.back());
} catch (const tilewright::Error& error) {
  return std::fprintf(stderr, "first_kernel: %s\n", error.what()), exit_code(error.kind());
}
