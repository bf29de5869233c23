// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace tilewright {

enum class DeviceKind : std::uint8_t { kCpu, kCuda, kEmu };

struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;

  static constexpr Device cpu() { return {DeviceKind::kCpu, 0}; }
  static constexpr Device cuda(int index = 0) { return {DeviceKind::kCuda, index}; }
  // "cpu", "cuda", "cuda:1", "emu", or "auto": cuda:0 when a usable GPU is there, else cpu.
  // Throws InvalidArgument for another word and NotFound for a device this machine lacks.
  static Device parse(std::string_view text);

  bool is_cpu() const { return kind == DeviceKind::kCpu; }
  bool is_cuda() const { return kind == DeviceKind::kCuda; }
  bool operator==(const Device&) const = default;
};
std::string to_string(Device device);
std::ostream& operator<<(std::ostream& out, Device device);

// A GPU architecture, with the suffix that unlocks its own instructions: sm_90a.
struct Arch {
  int major = 0, minor = 0;
  bool specific = false;
  static Arch parse(std::string_view text);  // "sm_90a", "90a"
  int number() const { return major * 10 + minor; }
  bool operator==(const Arch&) const = default;
};
std::string to_string(Arch arch);  // sm_90a

struct DeviceProperties {
  std::string name;
  Arch arch;  // zero on the cpu
  int multiprocessors = 0;
  int threads = 0;  // worker threads of the cpu device
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  std::size_t shared_bytes_per_block = 0;
};

// 0 when the driver is missing; never throws for a missing library.
int device_count(DeviceKind kind);
const DeviceProperties& properties(Device device);

}  // namespace tilewright
