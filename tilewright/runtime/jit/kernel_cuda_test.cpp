// SPDX-License-Identifier: Apache-2.0
// Kernels compiled and launched on a GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/runtime/cuda/cuda_test_internal.h"
#include "tilewright/runtime/jit/compile_all.h"
#include "tilewright/runtime/jit/kernel.h"
#include "tilewright/runtime/jit/pack.h"
#include "tilewright/runtime/jit/test_folder.h"
#include "tilewright/runtime/library.h"

namespace tilewright {
namespace {

constexpr const char* kScale = R"(
__global__ void scale(float* y, const float* x, float factor, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = factor * x[i];
}
template <class T> __global__ void store(T* y, T value) { *y = value; }
extern "C" __global__ void plain(float* y, int count) { y[0] = count; }
__global__ void shared_words(unsigned* y, int count) {
  extern __shared__ unsigned words[];
  for (int i = threadIdx.x; i < count; i += blockDim.x) words[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) y[0] = words[count - 1];
}
__global__ void cluster_size(unsigned* y) {
#if __CUDA_ARCH__ >= 900
  unsigned size;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
  y[blockIdx.x] = size;
#endif
}
__global__ void broken(int* y) { *(volatile int*)0 = 1; }
)";

class KernelCuda : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!IsSkipped() && !library_status(LibraryId::kNvrtc).loaded)
      GTEST_SKIP() << "NVRTC is not installed";
  }
  static Kernel kernel(const char* name, const Stream& stream) {
    return Kernel::compile(kScale, name, stream);
  }
};

TEST_F(KernelCuda, AUsersKernelRuns) {
  const Stream stream(Device::cuda(0));
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 0.0f);
  const Tensor x = Tensor::from_host(values.data(), {1000}, DType::f32, stream);
  const Tensor y = empty_like(x, stream);
  const Kernel scale = kernel("scale", stream);
  scale({{8}, {128}}, stream, y, x, 3.0f, 1000);
  y.to_host(values.data(), stream);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(values[std::size_t(i)], 3.0f * float(i));
  EXPECT_GT(scale.report().registers, 0);
  const Tensor one = Tensor::zeros({1}, DType::i64, stream);
  kernel("store<long long>", stream)({}, stream, one, std::int64_t(1) << 40);
  std::int64_t stored = 0;
  one.to_host(&stored, stream);
  EXPECT_EQ(stored, std::int64_t(1) << 40);
}

TEST_F(KernelCuda, WrongArgumentsAreRefused) {
  const Stream stream(Device::cuda(0));
  const Tensor x = Tensor::zeros({16}, DType::f32, stream);
  const Tensor half = Tensor::zeros({16}, DType::f16, stream);
  const Tensor host = Tensor::zeros({16}, DType::f32, Stream(Device::cpu()));
  const Kernel scale = kernel("scale", stream), plain = kernel("plain", stream);
  const auto refused = [&](const char* words, const Kernel& which,
                           const std::vector<KernelArgument>& arguments) {
    try {
      which.launch({}, stream, arguments);
      ADD_FAILURE() << "accepted: " << words;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused("got 3 arguments, wants 4", scale, {x, x, 1.0f});
  refused("argument 2: got f16 [16] on cuda:0, wants float const*", scale, {x, half, 1.0f, 1});
  refused("argument 1: got f32 [16] on cpu, wants a tensor on cuda:0", scale, {host, x, 1.0f, 1});
  refused("argument 3: got double 0.1, wants float", scale, {x, x, 0.1, 1});
  refused("argument 4: got float 1, wants int", scale, {x, x, 1.0f, 1.0f});
  refused("got 1 arguments, wants 2", plain, {x});
  refused("argument 2: got int64 1, wants a value of 4 bytes", plain, {x, std::int64_t(1)});
  refused("contiguous", plain, {x.slice(0, 0, 16, 2), 1});
}

TEST_F(KernelCuda, WrongLaunchesAreRefused) {
  const Stream stream(Device::cuda(0));
  const Tensor y = Tensor::zeros({16}, DType::f32, stream);
  const Kernel plain = kernel("plain", stream);
  EXPECT_THROW(plain({{0}, {1}}, stream, y, 1), InvalidArgument);
  EXPECT_THROW(plain({{1}, {2048}}, stream, y, 1), InvalidArgument);
  EXPECT_THROW(plain({{1}, {1}, 1 << 20}, stream, y, 1), InvalidArgument);
  EXPECT_THROW(plain({{3}, {1}, 0, 2}, stream, y, 1), InvalidArgument);
  EXPECT_THROW(plain({}, Stream(Device::cpu()), y, 1), InvalidArgument);
  EXPECT_NO_THROW(plain({}, stream, y, 1));
}

TEST_F(KernelCuda, AllSharedMemoryAndClustersAreOpen) {
  const Stream stream(Device::cuda(0));
  const DeviceProperties& gpu = properties(Device::cuda(0));
  const Tensor y = Tensor::zeros({16}, DType::i32, stream);
  const auto bytes = std::uint32_t(gpu.shared_bytes_per_block);
  kernel("shared_words", stream)({{1}, {256}, bytes}, stream, y, int(bytes / 4));
  std::int32_t got[16];
  y.to_host(got, stream);
  EXPECT_EQ(got[0], std::int32_t(bytes / 4 - 1));
  if (gpu.arch.major < 9) GTEST_SKIP() << "clusters need sm_90";
  for (const std::uint32_t size : {2u, 8u, 16u}) {
    LaunchShape shape{{16}, {32}};
    shape.cluster = size;
    shape.programmatic = size == 2;
    kernel("cluster_size", stream)(shape, stream, y);
    y.to_host(got, stream);
    for (const std::int32_t value : got) EXPECT_EQ(value, std::int32_t(size));
  }
}

TEST_F(KernelCuda, ALibraryKernelRunsOncePerSpecFromTheCache) {
  const TestFolder folder;
  folder.hold_cache();
  const Arch arch = properties(Device::cuda(0)).arch;
  const KernelSpec spec{"tilewright/runtime/copy.cuh", "tilewright::copy_strided<2, unsigned int>"};
  EXPECT_FALSE(compile_kernels({spec}, arch)[0].from_cache);
  EXPECT_TRUE(compile_kernels({spec}, arch)[0].from_cache);
  EXPECT_THROW(compile_kernels({{spec.file, "tilewright::none"}}, arch), CompileError);
}

// Each in a process of its own: a fault ends the use of the GPU.
class KernelProcess : public KernelCuda {
 protected:
  void SetUp() override {
    KernelCuda::SetUp();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
  [[noreturn]] static void fault(bool blocking) {
    if (blocking) setenv("TW_LAUNCH_BLOCKING", "1", 1);
    const Stream stream(Device::cuda(0));
    const Tensor y = Tensor::zeros({4}, DType::f32, stream);
    const Kernel good = Kernel::compile(kScale, "plain", stream);
    const Kernel bad = Kernel::compile(kScale, "broken", stream);
    try {
      const Buffer pinned = Buffer::pinned(64);  // freed as the error passes through
      good({}, stream, y, 1);
      bad({}, stream, y.reinterpret(DType::i32));
      if (blocking) std::exit(3);
      pinned.record_use(stream);
      stream.synchronize();
    } catch (const DeviceError& error) {
      std::cerr << error.what();
      std::exit(0);
    }
    std::exit(4);
  }
};

TEST_F(KernelProcess, AFaultNamesTheLastKernels) {
  EXPECT_EXIT(fault(false), testing::ExitedWithCode(0),
              "CUDA_ERROR_ILLEGAL_ADDRESS.*newest last: .*plain, broken.*TW_LAUNCH_BLOCKING=1");
}

TEST_F(KernelProcess, BlockingLaunchesNameTheExactOne) {
  EXPECT_EXIT(fault(true), testing::ExitedWithCode(0), "kernel broken .grid .1, 1, 1.");
}

// With a pack that holds the kernel, NVRTC is not asked.
[[noreturn]] void copy_without_nvrtc(const std::string& pack, const std::string& cache) {
  setenv("TW_PACK", pack.c_str(), 1);
  setenv("TW_NVRTC", "/nowhere/libnvrtc.so", 1);
  setenv("TILEWRIGHT_CACHE", cache.c_str(), 1);
  try {
    const Stream stream(Device::cuda(0));
    const float values[] = {1, 2, 3, 4};
    const Tensor x = Tensor::from_host(values, {2, 2}, DType::f32, stream);
    float back[4];
    x.transpose(0, 1).to(stream).to_host(back, stream);
    std::cerr << back[1] << back[2];
    std::exit(0);
  } catch (const Error& error) {
    std::cerr << error.what();
    std::exit(1);
  }
}

TEST_F(KernelProcess, APackServesWithoutNvrtc) {
  const TestFolder folder;
  const KernelSpec spec{"tilewright/runtime/copy.cuh", "tilewright::copy_strided<4, unsigned int>"};
  const auto batch =
      jit::compile_batch({spec}, properties(Device::cuda(0)).arch, nullptr, jit::obtain);
  const auto pack = folder.path() / "tw.pack";
  jit::write_pack(pack,
                  {{batch[0].unit.key, spec, to_string(batch[0].unit.arch), batch[0].compiled}});
  EXPECT_EXIT(copy_without_nvrtc(pack, folder.path()), testing::ExitedWithCode(0), "32");
  EXPECT_EXIT(copy_without_nvrtc("", folder.path()), testing::ExitedWithCode(1),
              "NVRTC is not there");
}

}  // namespace
}  // namespace tilewright
