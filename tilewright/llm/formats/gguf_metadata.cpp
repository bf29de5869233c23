// SPDX-License-Identifier: Apache-2.0
// Typed access to GGUF metadata.
#include <array>
#include <limits>

#include "tilewright/llm/formats/byte_reader.h"
#include "tilewright/llm/formats/gguf.h"

namespace tilewright {
namespace {

constexpr std::array kValueNames{
    "an unsigned integer", "an integer", "a float", "a bool", "a string", "an array"};

std::int64_t signed_from(std::uint64_t value, std::string_view location, std::string_view key) {
  TW_CHECK(value <= std::uint64_t(std::numeric_limits<std::int64_t>::max()), Format, location,
           ": key ", key, ": ", value, " is out of range");
  return static_cast<std::int64_t>(value);
}

std::int64_t element(ByteReader& in, GgufType type, std::string_view location,
                     std::string_view key) {
  switch (type) {
    case GgufType::kU8: return in.read<std::uint8_t>(key);
    case GgufType::kI8: return in.read<std::int8_t>(key);
    case GgufType::kU16: return in.read<std::uint16_t>(key);
    case GgufType::kI16: return in.read<std::int16_t>(key);
    case GgufType::kU32: return in.read<std::uint32_t>(key);
    case GgufType::kI32: return in.read<std::int32_t>(key);
    case GgufType::kU64: return signed_from(in.read<std::uint64_t>(key), location, key);
    case GgufType::kI64: return in.read<std::int64_t>(key);
    default: TW_FAIL(Format, location, ": key ", key, " is no array of integers");
  }
}

}  // namespace

const GgufValue* GgufFile::find_value(std::string_view key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? nullptr : &found->second;
}

std::vector<std::string> GgufFile::keys() const {
  std::vector<std::string> result;
  for (const auto& [key, value] : metadata_) result.push_back(key);
  return result;
}

namespace {

// The value as T, with one message for every type.
template <class T>
const T* as(const GgufValue* value, std::string_view wanted, std::string_view location,
            std::string_view key) {
  if (value == nullptr) return nullptr;
  const T* result = std::get_if<T>(value);
  TW_CHECK(result != nullptr, Format, location, ": key ", key, " is ",
           kValueNames.at(value->index()), ", wants ", wanted);
  return result;
}

template <class T>
T require(std::optional<T> value, std::string_view location, std::string_view key) {
  TW_CHECK(value.has_value(), NotFound, location, ": key ", key,
           " is missing; the file is incomplete or of another architecture");
  return *value;
}

std::optional<std::int64_t> integer(const GgufValue* value, std::string_view location,
                                    std::string_view key) {
  if (value == nullptr) return {};
  if (const auto* number = std::get_if<std::uint64_t>(value)) {
    return signed_from(*number, location, key);
  }
  return *as<std::int64_t>(value, "an integer", location, key);
}

std::optional<double> floating(const GgufValue* value, std::string_view location,
                               std::string_view key) {
  if (value == nullptr) return {};
  if (const auto* number = std::get_if<std::uint64_t>(value)) return double(*number);
  if (const auto* number = std::get_if<std::int64_t>(value)) return double(*number);
  return *as<double>(value, "a number", location, key);
}

}  // namespace

std::int64_t GgufFile::get_int(std::string_view key) const {
  return require(integer(find_value(key), location_, key), location_, key);
}

std::int64_t GgufFile::get_int(std::string_view key, std::int64_t fallback) const {
  return integer(find_value(key), location_, key).value_or(fallback);
}

double GgufFile::get_float(std::string_view key) const {
  return require(floating(find_value(key), location_, key), location_, key);
}

double GgufFile::get_float(std::string_view key, double fallback) const {
  return floating(find_value(key), location_, key).value_or(fallback);
}

bool GgufFile::get_bool(std::string_view key, bool fallback) const {
  const bool* value = as<bool>(find_value(key), "a bool", location_, key);
  return value == nullptr ? fallback : *value;
}

std::string_view GgufFile::get_string(std::string_view key) const {
  const auto* value = as<std::string_view>(find_value(key), "a string", location_, key);
  return require(value == nullptr ? std::nullopt : std::optional(*value), location_, key);
}

std::string_view GgufFile::get_string(std::string_view key, std::string_view fallback) const {
  const auto* value = as<std::string_view>(find_value(key), "a string", location_, key);
  return value == nullptr ? fallback : *value;
}

const GgufArray& GgufFile::array(std::string_view key) const {
  const auto* value = as<GgufArray>(find_value(key), "an array", location_, key);
  TW_CHECK(value != nullptr, NotFound, location_, ": key ", key, " is missing");
  return *value;
}

std::vector<std::string_view> GgufFile::get_strings(std::string_view key) const {
  const GgufArray& values = array(key);
  TW_CHECK(values.type == GgufType::kString, Format, location_, ": key ", key,
           " is no array of strings");
  ByteReader in(values.data, location_);
  std::vector<std::string_view> result(values.count);
  for (auto& text : result) text = as_text(in.take(in.read<std::uint64_t>(key), key));
  return result;
}

std::vector<std::int64_t> GgufFile::get_ints(std::string_view key) const {
  const GgufArray& values = array(key);
  ByteReader in(values.data, location_);
  std::vector<std::int64_t> result(values.count);
  for (auto& number : result) number = element(in, values.type, location_, key);
  return result;
}

}  // namespace tilewright
