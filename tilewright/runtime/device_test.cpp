// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/device.h"

#include <gtest/gtest.h>

#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"

namespace tilewright {
namespace {

TEST(Device, ParsesItsOwnNames) {
  EXPECT_EQ(Device::parse("cpu"), Device::cpu());
  EXPECT_EQ(to_string(Device::cuda(3)), "cuda:3");
  EXPECT_EQ(Device::parse("auto").is_cuda(), device_count(DeviceKind::kCuda) > 0);
}

TEST(Device, RefusesUnknownWords) {
  for (const char* word : {"gpu", "cuda:", "cuda:-1", "cuda:1x", "CPU", ""})
    EXPECT_THROW(Device::parse(word), InvalidArgument) << word;
}

TEST(Device, SaysThatTheEmulatorComesLater) {
  try {
    Device::parse("emu");
    FAIL() << "emu was accepted";
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("emulator"), std::string::npos);
  }
}

TEST(Device, NamesWhatTheMachineLacks) {
  const std::string absent = str("cuda:", device_count(DeviceKind::kCuda));
  EXPECT_THROW(Device::parse(absent), NotFound);
}

TEST(Device, CpuHasThreadsAndMemory) {
  const DeviceProperties& cpu = properties(Device::cpu());
  EXPECT_EQ(cpu.threads, thread_count());
  EXPECT_GT(cpu.memory_bytes, std::size_t(1) << 20);
  EXPECT_FALSE(cpu.name.empty());
  EXPECT_EQ(cpu.arch, Arch{});
}

TEST(Arch, ParsesAndPrints) {
  EXPECT_EQ(Arch::parse("sm_90a"), (Arch{9, 0, true}));
  EXPECT_EQ(Arch::parse("80"), (Arch{8, 0, false}));
  EXPECT_EQ(to_string(Arch::parse("100a")), "sm_100a");
  for (const char* word : {"", "sm_", "sm_x", "sm_9", "compute_90", "sm_90b", "sm_-80"})
    EXPECT_THROW(Arch::parse(word), InvalidArgument) << word;
}

}  // namespace
}  // namespace tilewright
