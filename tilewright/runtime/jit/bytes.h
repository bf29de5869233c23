// SPDX-License-Identifier: Apache-2.0
// Little-endian fields in a byte string, read without trust.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::jit {

class ByteWriter {
 public:
  void raw(std::string_view bytes) { bytes_.append(bytes); }
  void u64(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  }
  void text(std::string_view value) {
    u64(value.size());
    raw(value);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Past the end everything reads as zero or empty, and ended_well() is false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t u64() {
    const std::string_view field = take(8);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < field.size(); ++i)
      value |= std::uint64_t(static_cast<unsigned char>(field[i])) << (8 * i);
    return value;
  }
  std::string_view text() { return take(u64()); }
  bool failed() const { return failed_; }
  bool ended_well() const { return !failed_ && bytes_.empty(); }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view field = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return field;
  }

  std::string_view bytes_;
  bool failed_ = false;
};

}  // namespace tilewright::jit
