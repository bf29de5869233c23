// SPDX-License-Identifier: Apache-2.0
// GGUF versions 2 and 3, little-endian. Source: the GGUF specification of the ggml project.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tilewright/base/files.h"
#include "tilewright/llm/formats/weights.h"

namespace tilewright {

enum class GgufType : std::uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
};

// A metadata value; strings and arrays are views into the mapped file.
struct GgufArray {
  GgufType type = GgufType::kU8;
  std::uint64_t count = 0;
  std::span<const std::byte> data;  // the elements as stored
};
using GgufValue =
    std::variant<std::uint64_t, std::int64_t, double, bool, std::string_view, GgufArray>;

class GgufFile : public WeightSource {
 public:
  // Throws NotFound, IoError, FormatError naming the file, the section and the offset, or
  // Unsupported naming a tensor's type. Every count, length, offset and product is checked.
  explicit GgufFile(const std::filesystem::path& path);
  // Over bytes in memory, kept alive by `owner`; `location` starts the messages.
  GgufFile(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
           std::string location);

  std::uint32_t version() const { return version_; }
  bool has(std::string_view key) const { return metadata_.find(key) != metadata_.end(); }
  std::vector<std::string> keys() const;

  // Each throws NotFound naming the key when it is absent, FormatError when it has another type
  // or does not fit; the ones with a fallback return it when the key is absent.
  std::int64_t get_int(std::string_view key) const;
  std::int64_t get_int(std::string_view key, std::int64_t fallback) const;
  double get_float(std::string_view key) const;
  double get_float(std::string_view key, double fallback) const;
  bool get_bool(std::string_view key, bool fallback) const;
  std::string_view get_string(std::string_view key) const;
  std::string_view get_string(std::string_view key, std::string_view fallback) const;
  std::vector<std::string_view> get_strings(std::string_view key) const;
  std::vector<std::int64_t> get_ints(std::string_view key) const;  // any integer element type

  const TensorInfo* find(std::string_view name) const override;
  std::vector<std::string> names() const override;
  std::string location() const override { return location_; }
  std::shared_ptr<const void> owner() const override { return owner_; }

 private:
  void parse(std::span<const std::byte> bytes);
  const GgufValue* find_value(std::string_view key) const;
  const GgufArray& array(std::string_view key) const;

  std::string location_;
  std::shared_ptr<const void> owner_;
  std::uint32_t version_ = 0;
  std::map<std::string, GgufValue, std::less<>> metadata_;
  std::map<std::string, TensorInfo, std::less<>> tensors_;
};

}  // namespace tilewright
