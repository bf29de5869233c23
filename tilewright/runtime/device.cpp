// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/device.h"

#include <charconv>
#include <ostream>

#include "tilewright/base/error.h"
#include "tilewright/runtime/backend.h"

namespace tilewright {
namespace {

Device check_cuda(int index, std::string_view text) {
  const int count = device_count(DeviceKind::kCuda);
  TW_CHECK(count > 0, NotFound, "device '", text,
           "': no usable GPU on this machine: ", detail::cuda_absence(),
           "; use cpu, or run `tw doctor`");
  TW_CHECK(index < count, NotFound, "device '", text, "': this machine has ", count,
           " GPU(s), cuda:0 to cuda:", count - 1);
  return Device::cuda(index);
}

// The number after "cuda:", or -1.
int parse_index(std::string_view digits) {
  int index = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && !digits.empty() && digits[0] != '-' ? index : -1;
}

}  // namespace

Device Device::parse(std::string_view text) {
  if (text == "cpu") return cpu();
  if (text == "auto") return device_count(DeviceKind::kCuda) > 0 ? cuda(0) : cpu();
  if (text == "emu")
    TW_FAIL(Unsupported, "device 'emu': the emulator is not part of this version yet; use cpu");
  if (text == "cuda") return check_cuda(0, text);
  if (text.starts_with("cuda:")) {
    if (const int index = parse_index(text.substr(5)); index >= 0) return check_cuda(index, text);
  }
  TW_FAIL(InvalidArgument, "unknown device '", text,
          "'; known are cpu, cuda, cuda:N, emu and auto");
}

std::string to_string(Device device) {
  switch (device.kind) {
    case DeviceKind::kCpu: return "cpu";
    case DeviceKind::kCuda: return str("cuda:", device.index);
    case DeviceKind::kEmu: return "emu";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& out, Device device) { return out << to_string(device); }

Arch Arch::parse(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with("sm_")) digits.remove_prefix(3);
  const bool specific = digits.ends_with('a');
  if (specific) digits.remove_suffix(1);
  const int number = parse_index(digits);
  TW_CHECK(number >= 50 && number < 1000, InvalidArgument, "unknown architecture '", text,
           "'; wants a name such as sm_80, sm_90a or 90a");
  return {number / 10, number % 10, specific};
}

std::string to_string(Arch arch) { return str("sm_", arch.number(), arch.specific ? "a" : ""); }

int device_count(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu: return 1;
    case DeviceKind::kCuda: return detail::cuda_device_count();
    case DeviceKind::kEmu: return 0;
  }
  return 0;
}

const DeviceProperties& properties(Device device) { return detail::backend(device).properties(); }

namespace detail {

Backend& backend(Device device) {
  switch (device.kind) {
    case DeviceKind::kCpu:
      TW_CHECK(device.index == 0, NotFound, "device cpu:", device.index, ": there is only cpu");
      return cpu_backend();
    case DeviceKind::kCuda:
      check_cuda(device.index, to_string(device));
      return cuda_backend(device.index);
    case DeviceKind::kEmu: break;
  }
  TW_FAIL(Unsupported, "device 'emu': the emulator is not part of this version yet; use cpu");
}

}  // namespace detail
}  // namespace tilewright
