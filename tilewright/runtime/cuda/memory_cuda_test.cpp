// SPDX-License-Identifier: Apache-2.0
// Pools, pinned memory and copies on a GPU.
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/runtime/cuda/cuda_test_internal.h"
#include "tilewright/runtime/jit/kernel.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {
namespace {

constexpr std::size_t kMegabyte = 1 << 20;

class MemoryCuda : public CudaTest {
 protected:
  const Device gpu_ = Device::cuda(0);
};

TEST_F(MemoryCuda, PropertiesAreRead) {
  const DeviceProperties& gpu = properties(gpu_);
  EXPECT_GE(gpu.arch.number(), 75);
  EXPECT_EQ(gpu.arch.specific, gpu.arch.major >= 9);
  EXPECT_GT(gpu.multiprocessors, 0);
  EXPECT_GT(gpu.memory_bytes, std::size_t(1) << 30);
  EXPECT_GE(gpu.shared_bytes_per_block, 48u * 1024);
}

TEST_F(MemoryCuda, ThePoolCountsLimitsAndTrims) {
  const Stream stream(gpu_);
  const std::size_t before = pool_statistics(gpu_).in_use;
  {
    const Buffer block = Buffer::allocate(stream, 64 * kMegabyte);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 256, 0u);
    EXPECT_EQ(pool_statistics(gpu_).in_use, before + 64 * kMegabyte);
    EXPECT_GE(pool_statistics(gpu_).reserved, 64 * kMegabyte);
  }
  stream.synchronize();
  EXPECT_EQ(pool_statistics(gpu_).in_use, before);
  const std::size_t kept = pool_statistics(gpu_).reserved;
  trim_pool(gpu_);
  EXPECT_LE(pool_statistics(gpu_).reserved + 64 * kMegabyte, kept);
  set_pool_limit(gpu_, before + kMegabyte);
  EXPECT_THROW(Buffer::allocate(stream, kMegabyte + 1), OutOfMemory);
  EXPECT_NO_THROW(Buffer::allocate(stream, kMegabyte));
  set_pool_limit(gpu_, 0);
}

TEST_F(MemoryCuda, MoreThanTheDeviceHasIsOutOfMemoryAndPasses) {
  const Stream stream(gpu_);
  try {
    Buffer::allocate(stream, properties(gpu_).memory_bytes * 2);
    FAIL() << "twice the device's memory was allocated";
  } catch (const OutOfMemory& error) {
    EXPECT_NE(std::string(error.what()).find("cuda:0"), std::string::npos);
  }
  EXPECT_NO_THROW(Tensor::zeros({1000}, DType::f32, stream));
}

// Freed while another stream still reads it: the next owner must not overwrite it.
TEST_F(MemoryCuda, RecordedUsesAreWaitedFor) {
  const char* source = R"(
__global__ void late_copy(int* to, const int* from, long long cycles) {
  long long begin = clock64();
  while (clock64() - begin < cycles) {}
  to[0] = from[0];
})";
  const Stream owner(gpu_), other(gpu_);
  const Kernel late = Kernel::compile(source, "late_copy", other);
  const Tensor result = Tensor::zeros({1}, DType::i32, owner);
  const int seven = 7;
  for (int round = 0; round < 5; ++round) {
    Tensor data = Tensor::from_host(&seven, {1}, DType::i32, owner);
    late({}, other, result, data, std::int64_t(5'000'000));
    data.buffer().record_use(other);
    data = Tensor();
    const Tensor next = Tensor::zeros({1}, DType::i32, owner);
    int value = 0;
    result.to_host(&value, other);
    EXPECT_EQ(value, 7);
  }
}

TEST_F(MemoryCuda, PinnedCopiesGoThereAndBack) {
  const Stream stream(gpu_);
  const std::size_t bytes = 4 * kMegabyte;
  const Buffer out = Buffer::pinned(bytes), back = Buffer::pinned(bytes);
  auto* values = static_cast<std::uint32_t*>(out.data());
  for (std::size_t i = 0; i < bytes / 4; ++i) values[i] = std::uint32_t(i * 2654435761u);
  const Buffer device = Buffer::allocate(stream, bytes);
  copy_bytes(device.data(), gpu_, out.data(), Device::cpu(), bytes, stream);
  copy_bytes(back.data(), Device::cpu(), device.data(), gpu_, bytes, stream);
  stream.synchronize();
  EXPECT_EQ(std::memcmp(out.data(), back.data(), bytes), 0);
}

TEST_F(MemoryCuda, APinnedBlockInUseIsNotHandedOut) {
  const Stream stream(gpu_);
  const std::int64_t count = 16 << 20;
  const Tensor device = Tensor::zeros({count}, DType::i32, stream);
  void* address = nullptr;
  {
    const Buffer pinned = Buffer::pinned(std::size_t(count) * 4);
    address = pinned.data();
    const Tensor host = Tensor::wrap(address, {count}, DType::i32, Device::cpu());
    copy(device, host, stream);
    pinned.record_use(stream);
  }
  const Buffer next = Buffer::pinned(std::size_t(count) * 4);
  if (next.data() == address) {
    // Handed out again: then the copy must be over.
    const Event now(gpu_);
    now.record(stream);
    EXPECT_TRUE(now.query());
  }
  stream.synchronize();
}

std::vector<float> on_cpu(const Tensor& tensor, const Stream& stream) {
  std::vector<float> values(std::size_t(tensor.numel()));
  // The stream that wrote a tensor on a GPU: another one would not wait for it.
  const Stream host(Device::cpu());
  tensor.to_host(values.data(), tensor.device().is_cpu() ? host : stream);
  return values;
}

// The same views on both devices must hold the same numbers after every kind of copy.
TEST_F(MemoryCuda, StridedCopiesAgreeWithTheCpu) {
  const Stream stream(gpu_), host_stream(Device::cpu());
  std::vector<float> numbers(7 * 33 * 65);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  const Tensor host = Tensor::from_host(numbers.data(), {7, 33, 65}, DType::f32, host_stream);
  const Tensor device = host.to(stream);
  const std::vector<std::function<Tensor(const Tensor&)>> views{
      [](const Tensor& x) { return x; },
      [](const Tensor& x) { return x.transpose(0, 2); },
      [](const Tensor& x) { return x.permute({1, 0, 2}); },
      [](const Tensor& x) { return x.slice(2, 1, 64, 3); },
      [](const Tensor& x) { return x.slice(1, 5, 20); },
      [](const Tensor& x) { return x.slice(2, 3, 35); },
      [](const Tensor& x) { return x.select(2, 7); },
      [](const Tensor& x) { return x.select(0, 3).unsqueeze(0).broadcast_to({4, 33, 65}); }};
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Tensor from_host = views[i](host), from_device = views[i](device);
    const std::vector<float> expected = on_cpu(from_host, stream);
    EXPECT_EQ(on_cpu(from_device, stream), expected) << "GPU to host, view " << i;
    EXPECT_EQ(on_cpu(from_device.to(stream), stream), expected) << "within the GPU, view " << i;
    EXPECT_EQ(on_cpu(from_host.to(stream), stream), expected) << "host to GPU, view " << i;
    Shape wide = from_host.shape();
    wide[-1] = wide[-1] * 2 + 1;
    const Tensor target = Tensor::zeros(wide, DType::f32, stream);
    const Tensor odd = target.slice(-1, 1, wide[-1], 2);
    copy(odd, from_device, stream);
    EXPECT_EQ(on_cpu(odd, stream), expected) << "into every second column, view " << i;
  }
}

TEST_F(MemoryCuda, BlocksAndOddBytesAreCopied) {
  const Stream stream(gpu_), host_stream(Device::cpu());
  const Tensor host = Tensor::zeros({6, 256}, DType::q6_k, host_stream);
  for (std::size_t i = 0; i < host.bytes(); ++i)
    host.data_as<std::uint8_t>()[i] = std::uint8_t(i * 7);
  const Tensor every_second = host.to(stream).slice(0, 0, 6, 2).to(stream);
  std::vector<std::uint8_t> got(every_second.bytes());
  every_second.to_host(got.data(), stream);
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], host.data_as<std::uint8_t>()[i / 210 * 420 + i % 210]) << i;
}

TEST_F(MemoryCuda, GpusCopyBetweenThemselves) {
  if (device_count(DeviceKind::kCuda) < 2) GTEST_SKIP() << "one GPU only";
  const Stream first(Device::cuda(0)), second(Device::cuda(1));
  std::vector<float> numbers(33 * 65);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  const Tensor there = Tensor::from_host(numbers.data(), {33, 65}, DType::f32, first);
  EXPECT_EQ(on_cpu(there.to(second), second), numbers);
  EXPECT_EQ(on_cpu(there.transpose(0, 1).to(second), second), on_cpu(there.transpose(0, 1), first));
}

TEST_F(MemoryCuda, RealTimeModeForbidsAllocation) {
  const Stream stream(gpu_);
  const RealTimeScope scope;
  EXPECT_THROW(Tensor::empty({1}, DType::f32, stream), InvalidArgument);
}

}  // namespace
}  // namespace tilewright
