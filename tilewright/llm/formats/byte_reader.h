// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "tilewright/base/error.h"

namespace tilewright {

// Reads little-endian values from untrusted bytes and never past their end.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string_view location)
      : bytes_(bytes), location_(location) {}

  std::size_t offset() const { return offset_; }
  std::size_t remaining() const { return bytes_.size() - offset_; }

  // `what` names the field in the message of the FormatError thrown at the end of the bytes.
  std::span<const std::byte> take(std::uint64_t count, std::string_view what) {
    TW_CHECK(count <= remaining(), Format, location_, ": truncated at offset ", offset_, ": ", what,
             " wants ", count, " bytes, ", remaining(), " are left");
    const auto taken = bytes_.subspan(offset_, static_cast<std::size_t>(count));
    offset_ += static_cast<std::size_t>(count);
    return taken;
  }

  template <class T>
  T read(std::string_view what) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    T value;
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view location_;
  std::size_t offset_ = 0;
};

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace tilewright
