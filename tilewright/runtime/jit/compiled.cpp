// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/compiled.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "tilewright/base/hash.h"
#include "tilewright/runtime/jit/bytes.h"

namespace tilewright::jit {
namespace {

constexpr std::string_view kMagic = "TWKERN01";

std::string raw_digest(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  const auto digest = hash.digest();
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// The number that stands before `words`, such as 32 in "Used 32 registers".
int number_before(std::string_view line, std::string_view words) {
  const auto at = line.find(words);
  if (at == line.npos) return -1;
  std::size_t begin = at;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1]))) --begin;
  return begin == at ? -1 : std::atoi(std::string(line.substr(begin, at - begin)).c_str());
}

bool names_performance_loss(std::string_view line) {
  const auto at = line.find("(C75");
  return at != line.npos && at + 6 < line.size() &&
         std::isdigit(static_cast<unsigned char>(line[at + 4])) &&
         std::isdigit(static_cast<unsigned char>(line[at + 5])) && line[at + 6] == ')';
}

void parse_line(std::string_view line, Resources& result) {
  const auto keep_max = [&](int& value, const char* words) {
    value = std::max(value, number_before(line, words));
  };
  keep_max(result.registers, " registers");
  keep_max(result.shared_bytes, " bytes smem");
  keep_max(result.stack_bytes, " bytes stack frame");
  const int stores = number_before(line, " bytes spill stores");
  const int loads = number_before(line, " bytes spill loads");
  if (stores >= 0 && loads >= 0) result.spill_bytes = std::max(result.spill_bytes, stores + loads);
  if (names_performance_loss(line)) result.performance_losses.emplace_back(line);
}

}  // namespace

std::string serialized(const Compiled& compiled) {
  ByteWriter out;
  out.raw(kMagic);
  out.text(compiled.lowered_name);
  for (const int value :
       {compiled.registers, compiled.spill_bytes, compiled.shared_bytes, compiled.stack_bytes})
    out.u64(static_cast<std::uint64_t>(value));
  out.u64(static_cast<std::uint64_t>(compiled.compile_milliseconds * 1000));
  out.text(compiled.cubin);
  out.raw(raw_digest(out.bytes()));
  return out.bytes();
}

std::optional<Compiled> deserialized(std::string_view bytes) {
  constexpr std::size_t kDigest = 32;
  if (bytes.size() < kMagic.size() + kDigest || !bytes.starts_with(kMagic)) return std::nullopt;
  const std::string_view body = bytes.substr(0, bytes.size() - kDigest);
  if (raw_digest(body) != bytes.substr(body.size())) return std::nullopt;
  ByteReader in(body.substr(kMagic.size()));
  Compiled result;
  result.lowered_name = in.text();
  for (int* value :
       {&result.registers, &result.spill_bytes, &result.shared_bytes, &result.stack_bytes})
    *value = int(in.u64());
  result.compile_milliseconds = double(in.u64()) / 1000;
  result.cubin = in.text();
  if (!in.ended_well()) return std::nullopt;
  return result;
}

Resources parse_ptxas_log(std::string_view log) {
  Resources result;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    parse_line(log.substr(begin, end - begin), result);
    begin = end + 1;
  }
  return result;
}

KernelReport report_of(const KernelSpec& spec, const Compiled& compiled, bool from_cache) {
  return {spec,
          compiled.registers,
          compiled.spill_bytes,
          compiled.shared_bytes,
          compiled.stack_bytes,
          compiled.compile_milliseconds,
          from_cache};
}

}  // namespace tilewright::jit
