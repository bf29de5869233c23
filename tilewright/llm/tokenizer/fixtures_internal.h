// SPDX-License-Identifier: Apache-2.0
// Reads tests/fixtures/tokenizer, which tools/make_tokenizer_fixtures.py makes.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/base/error.h"

#ifndef TW_SOURCE_DIR  // the build says; else the folder one is in
#define TW_SOURCE_DIR "."
#endif

namespace tilewright::fixtures {

inline std::string read_gzip(const std::string& name) {
  const std::string path = str(TW_SOURCE_DIR, "/tests/fixtures/tokenizer/", name, ".gz");
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), &gzclose);
  TW_CHECK(file != nullptr, NotFound, "no fixture ", path);
  std::string text;
  char buffer[1 << 16];
  for (int got; (got = gzread(file.get(), buffer, sizeof(buffer))) != 0;) {
    TW_CHECK(got > 0, Format, path, ": damaged");
    text.append(buffer, std::size_t(got));
  }
  return text;
}

inline std::uint32_t take_u32(const std::string& data, std::size_t& at) {
  std::uint32_t value = 0;
  TW_CHECK(at + sizeof(value) <= data.size(), Format, "a fixture is truncated");
  std::memcpy(&value, data.data() + at, sizeof(value));
  at += sizeof(value);
  return value;
}

inline std::vector<std::string> read_strings() {
  const std::string data = read_gzip("strings.bin");
  std::vector<std::string> strings;
  for (std::size_t at = 0; at < data.size();) {
    const std::uint32_t size = take_u32(data, at);
    strings.push_back(data.substr(at, size));
    at += size;
  }
  return strings;
}

inline std::vector<std::vector<std::int32_t>> read_ids(const std::string& name) {
  const std::string data = read_gzip(name + ".ids.bin");
  std::vector<std::vector<std::int32_t>> lists;
  for (std::size_t at = 0; at < data.size();) {
    std::vector<std::uint16_t> ids(take_u32(data, at));
    if (!ids.empty()) std::memcpy(ids.data(), data.data() + at, ids.size() * 2);
    at += ids.size() * 2;
    lists.emplace_back(ids.begin(), ids.end());
  }
  return lists;
}

}  // namespace tilewright::fixtures
