// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>

#include "tilewright/ops/add/add.h"

int main() {
  using namespace tilewright;
  const Stream stream(Device::cpu());
  const std::vector<float> left{1, 2, 3}, right{10, 20, 30};
  const Tensor a = Tensor::from_host(left.data(), {3}, DType::f32, stream);
  const Tensor b = Tensor::from_host(right.data(), {3}, DType::f32, stream);
  std::vector<float> sum(3);
  add(a, b, stream).to_host(sum.data(), stream);
  std::printf("add: [%g, %g, %g]\n", sum[0], sum[1], sum[2]);
}
