// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/pack.h"

#include <cstdlib>

#include "tilewright/base/error.h"
#include "tilewright/base/hash.h"
#include "tilewright/base/log.h"
#include "tilewright/runtime/jit/bytes.h"

namespace tilewright::jit {
namespace {

// Layout: magic, size of the index, index, SHA-256 of the index in hexadecimal, entries.
constexpr std::string_view kMagic = "TWPACK01";
constexpr std::size_t kDigest = 64;

std::string_view view(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string named_pack() {
  const char* named = std::getenv("TW_PACK");
  return named == nullptr ? "" : named;
}

std::string find_pack() {
  if (const std::string named = named_pack(); !named.empty()) return named;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "";
  for (const char* name : {"tw.pack", "tilewright.pack"}) {
    const auto path = program.parent_path() / name;
    if (std::filesystem::is_regular_file(path, error)) return path;
  }
  return "";
}

}  // namespace

Pack::Pack(const std::filesystem::path& path) : file_(path) {
  const std::string_view all = view(file_);
  const auto require = [&](bool good, const char* what) {
    TW_CHECK(good, Format, path.string(), ": ", what, "; make it again with `tw precompile`");
  };
  require(all.starts_with(kMagic), "not a pack of this version");
  ByteReader header(all.substr(kMagic.size()));
  const std::string_view index = header.text();
  require(!header.failed(), "the pack is cut short");
  const std::size_t after = kMagic.size() + 8 + index.size();
  require(all.size() >= after + kDigest, "the pack is cut short");
  require(all.substr(after, kDigest) == sha256_hex(index), "the pack's index is damaged");
  ByteReader in(index);
  const std::uint64_t count = in.u64();
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
    const std::string key(in.text());
    Place place;
    place.spec.file = in.text();
    place.spec.expression = in.text();
    place.arch = in.text();
    place.offset = in.u64();
    place.size = in.u64();
    const std::uint64_t begin = after + kDigest;
    require(place.offset <= all.size() - begin && place.size <= all.size() - begin - place.offset,
            "the pack is cut short");
    place.offset += begin;
    index_[key] = place;
  }
  require(in.ended_well(), "the pack's index is damaged");
}

Compiled Pack::read(const Place& place) const {
  auto compiled = deserialized(view(file_).substr(place.offset, place.size));
  TW_CHECK(compiled.has_value(), Format, file_.path().string(), ": the entry of ",
           place.spec.expression, " is damaged; make the pack again with `tw precompile`");
  return *std::move(compiled);
}

std::optional<Compiled> Pack::find(const std::string& key) const {
  const auto found = index_.find(key);
  if (found == index_.end()) return std::nullopt;
  return read(found->second);
}

std::vector<PackEntry> Pack::entries() const {
  std::vector<PackEntry> all;
  for (const auto& [key, place] : index_) all.push_back({key, place.spec, place.arch, read(place)});
  return all;
}

void write_pack(const std::filesystem::path& path, const std::vector<PackEntry>& entries) {
  ByteWriter index, body;
  index.u64(entries.size());
  for (const PackEntry& entry : entries) {
    const std::string bytes = serialized(entry.compiled);
    index.text(entry.key);
    index.text(entry.spec.file);
    index.text(entry.spec.expression);
    index.text(entry.arch);
    index.u64(body.bytes().size());
    index.u64(bytes.size());
    body.raw(bytes);
  }
  ByteWriter out;
  out.raw(kMagic);
  out.text(index.bytes());
  out.raw(sha256_hex(index.bytes()));
  out.raw(body.bytes());
  write_file_atomic(path, out.bytes());
}

const Pack* process_pack() {
  static const Pack* pack = []() -> const Pack* {
    const std::string path = pack_path();
    if (path.empty()) return nullptr;
    try {
      return new Pack(path);
    } catch (const Error& error) {
      if (!named_pack().empty()) throw;
      log_message(LogLevel::kWarning, str(error.what(), " (ignored)"));
      return nullptr;
    }
  }();
  return pack;
}

std::string pack_path() {
  static const std::string path = find_pack();
  return path;
}

}  // namespace tilewright::jit
