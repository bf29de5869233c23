// SPDX-License-Identifier: Apache-2.0
// Checked access to parsed JSON, as templates so that no header names the JSON library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tilewright/base/error.h"

namespace tilewright {

// Json is nlohmann::json or its ordered form. Throws FormatError with the parser's position.
template <class Json>
Json parse_json(std::string_view text, std::string_view where) {
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const typename Json::exception& error) {
    TW_FAIL(Format, where, ": not valid JSON: ", error.what());
  }
}

// The member, or null when it is absent or JSON null.
template <class Json>
const Json* json_find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

template <class Json>
std::int64_t json_int(const Json& value, std::string_view what, std::string_view where) {
  TW_CHECK(value.is_number_integer(), Format, where, ": ", what, " is ", value.type_name(),
           ", wants an integer");
  if (value.is_number_unsigned()) {
    const auto number = value.template get<std::uint64_t>();
    TW_CHECK(number <= std::uint64_t(INT64_MAX), Format, where, ": ", what, ": ", number,
             " is out of range");
  }
  return value.template get<std::int64_t>();
}

template <class Json>
double json_number(const Json& value, std::string_view what, std::string_view where) {
  TW_CHECK(value.is_number(), Format, where, ": ", what, " is ", value.type_name(),
           ", wants a number");
  return value.template get<double>();
}

template <class Json>
bool json_bool(const Json& value, std::string_view what, std::string_view where) {
  TW_CHECK(value.is_boolean(), Format, where, ": ", what, " is ", value.type_name(),
           ", wants true or false");
  return value.template get<bool>();
}

template <class Json>
const std::string& json_text(const Json& value, std::string_view what, std::string_view where) {
  TW_CHECK(value.is_string(), Format, where, ": ", what, " is ", value.type_name(),
           ", wants a string");
  return value.template get_ref<const std::string&>();
}

// Members by key, with a fallback when absent or null, or an error that names the key.
template <class Json>
class JsonObject {
 public:
  JsonObject(const Json& object, std::string_view where) : object_(object), where_(where) {
    TW_CHECK(object.is_object(), Format, where, ": ", object.type_name(), ", wants an object");
  }
  const Json* find(const char* key) const { return json_find(object_, key); }
  const Json& get(const char* key) const {
    const Json* value = find(key);
    TW_CHECK(value != nullptr, Format, where_, ": ", key, " is missing");
    return *value;
  }
  std::int64_t integer(const char* key) const { return json_int(get(key), key, where_); }
  std::int64_t integer(const char* key, std::int64_t fallback) const {
    const Json* value = find(key);
    return value == nullptr ? fallback : json_int(*value, key, where_);
  }
  double number(const char* key) const { return json_number(get(key), key, where_); }
  double number(const char* key, double fallback) const {
    const Json* value = find(key);
    return value == nullptr ? fallback : json_number(*value, key, where_);
  }
  bool boolean(const char* key, bool fallback) const {
    const Json* value = find(key);
    return value == nullptr ? fallback : json_bool(*value, key, where_);
  }
  const std::string& text(const char* key) const { return json_text(get(key), key, where_); }
  std::string text(const char* key, std::string fallback) const {
    const Json* value = find(key);
    return value == nullptr ? fallback : json_text(*value, key, where_);
  }

 private:
  const Json& object_;
  std::string_view where_;
};

}  // namespace tilewright
