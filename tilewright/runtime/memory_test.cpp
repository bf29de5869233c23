// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/runtime/tensor.h"

// An impossible size gives a null pointer, as it does without a sanitizer.
#define TW_EXPORT extern "C" __attribute__((visibility("default")))
#ifdef __SANITIZE_ADDRESS__
TW_EXPORT const char* __asan_default_options() { return "allocator_may_return_null=1"; }
#endif
#ifdef __SANITIZE_THREAD__
TW_EXPORT const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace tilewright {
namespace {

constexpr std::size_t kMegabyte = 1 << 20;

std::size_t in_use() { return pool_statistics(Device::cpu()).in_use; }

TEST(CpuPool, CountsWhatIsHandedOut) {
  const Stream stream(Device::cpu());
  const std::size_t before = in_use();
  {
    const Buffer first = Buffer::allocate(stream, 3 * kMegabyte);
    const Buffer shared = first;
    EXPECT_EQ(in_use(), before + 3 * kMegabyte);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data()) % 64, 0u);
  }
  EXPECT_EQ(in_use(), before);
  EXPECT_GE(pool_statistics(Device::cpu()).peak_in_use, before + 3 * kMegabyte);
  reset_peak(Device::cpu());
  EXPECT_EQ(pool_statistics(Device::cpu()).peak_in_use, before);
}

TEST(CpuPool, ZeroBytesAreANullPointerThatIsDefined) {
  const Buffer none = Buffer::allocate(Stream(Device::cpu()), 0);
  EXPECT_TRUE(bool(none));
  EXPECT_EQ(none.data(), nullptr);
}

TEST(CpuPool, TheLimitHoldsAndSaysTheState) {
  const Stream stream(Device::cpu());
  const std::size_t limit = in_use() + 2 * kMegabyte;
  set_pool_limit(Device::cpu(), limit);
  const Buffer half = Buffer::allocate(stream, kMegabyte);
  const std::size_t failures = pool_statistics(Device::cpu()).failures;
  try {
    Buffer::allocate(stream, kMegabyte + 1);
    ADD_FAILURE() << "the limit was passed";
  } catch (const OutOfMemory& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(limit)), std::string::npos);
  }
  EXPECT_EQ(pool_statistics(Device::cpu()).failures, failures + 1);
  EXPECT_NO_THROW(Buffer::allocate(stream, kMegabyte));
  set_pool_limit(Device::cpu(), 0);
  EXPECT_NO_THROW(Buffer::allocate(stream, 4 * kMegabyte));
}

TEST(CpuPool, AnImpossibleSizeIsOutOfMemoryAndLeavesNoTrace) {
  const std::size_t before = in_use();
  EXPECT_THROW(Buffer::allocate(Stream(Device::cpu()), SIZE_MAX / 2), OutOfMemory);
  EXPECT_THROW(Buffer::allocate(Stream(Device::cpu()), SIZE_MAX), OutOfMemory);
  EXPECT_EQ(in_use(), before);
}

TEST(CpuPool, ThreadsAllocateAtOnce) {
  const std::size_t before = in_use();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      const Stream stream(Device::cpu());
      for (int round = 0; round < 2000; ++round) Buffer::allocate(stream, 64 + std::size_t(round));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(in_use(), before);
}

TEST(Buffer, WrappedMemoryKeepsItsOwner) {
  auto owner = std::make_shared<std::vector<char>>(16);
  const std::weak_ptr<std::vector<char>> watch = owner;
  Buffer buffer = Buffer::wrap(Device::cpu(), owner->data(), 16, owner);
  owner.reset();
  EXPECT_FALSE(watch.expired());
  buffer = Buffer();
  EXPECT_TRUE(watch.expired());
}

TEST(PinnedPool, ReusesFreedBlocks) {
  Buffer first = Buffer::pinned(100000);
  EXPECT_TRUE(first.is_pinned());
  std::memset(first.data(), 1, first.bytes());
  void* const address = first.data();
  first = Buffer();
  EXPECT_EQ(Buffer::pinned(90000).data(), address);
  trim_pool(Device::cpu());
}

TEST(CopyBytes, OverlappingRangesOnTheCpuMoveAsAWhole) {
  const Stream stream(Device::cpu());
  const int threads = thread_count();
  set_thread_count(4);
  std::vector<std::uint32_t> values(8 << 20);
  std::iota(values.begin(), values.end(), 0U);
  const std::size_t kept = values.size() - 1000;
  copy_bytes(values.data() + 1000, Device::cpu(), values.data(), Device::cpu(), 4 * kept, stream);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kept; ++i) wrong += values[1000 + i] != i;
  EXPECT_EQ(wrong, 0u);
  copy_bytes(values.data(), Device::cpu(), values.data() + 1000, Device::cpu(), 4 * kept, stream);
  for (std::size_t i = 0; i < kept; ++i) wrong += values[i] != i;
  EXPECT_EQ(wrong, 0u);
  set_thread_count(threads);
}

TEST(RealTime, ForbidsAllocationAndNamesIt) {
  const Stream stream(Device::cpu());
  EXPECT_FALSE(RealTimeScope::active());
  {
    const RealTimeScope scope;
    EXPECT_THROW(Buffer::allocate(stream, 1), InvalidArgument);
    try {
      Buffer::pinned(1);
      ADD_FAILURE() << "pinned memory was allocated in real-time mode";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("pinned memory"), std::string::npos);
    }
  }
  EXPECT_NO_THROW(Buffer::allocate(stream, 1));
}

}  // namespace
}  // namespace tilewright
