// SPDX-License-Identifier: Apache-2.0
#include "cli/pull_zip.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright::cli {
namespace {

constexpr std::uint32_t kEndMagic = 0x06054b50, kEntryMagic = 0x02014b50, kLocalMagic = 0x04034b50;
constexpr std::size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30;
constexpr std::uint16_t kStored = 0, kDeflated = 8;

// Little-endian fields of one record, each read checked.
class Record {
 public:
  Record(std::span<const std::byte> bytes, std::size_t at, std::size_t size,
         const std::string& archive) {
    TW_CHECK(at <= bytes.size() && size <= bytes.size() - at, Format, archive,
             ": damaged ZIP archive: a record at byte ", at, " does not fit into ", bytes.size(),
             " bytes");
    bytes_ = bytes.subspan(at, size);
  }
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(read(at, 2)); }
  std::uint32_t u32(std::size_t at) const { return read(at, 4); }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::uint32_t read(std::size_t at, std::size_t size) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value |= std::to_integer<std::uint32_t>(bytes_[at + i]) << (8 * i);
    return value;
  }
  std::span<const std::byte> bytes_;
};

// The end record is last but for a comment of at most 65535 bytes.
Record find_end(std::span<const std::byte> bytes, const std::string& archive) {
  TW_CHECK(bytes.size() >= kEndBytes, Format, archive, ": not a ZIP archive: only ", bytes.size(),
           " bytes");
  const std::size_t last = bytes.size() - kEndBytes;
  for (std::size_t back = 0; back <= std::min<std::size_t>(last, 65535); ++back) {
    const Record end(bytes, last - back, kEndBytes, archive);
    if (end.u32(0) == kEndMagic && end.u16(20) == back) return end;
  }
  TW_FAIL(Format, archive, ": not a ZIP archive, or a truncated one: no end record");
}

std::span<const std::byte> packed_bytes(std::span<const std::byte> bytes, const Record& entry,
                                        const std::string& archive) {
  const std::size_t at = entry.u32(42);
  const Record local(bytes, at, kLocalBytes, archive);
  TW_CHECK(local.u32(0) == kLocalMagic, Format, archive,
           ": damaged ZIP archive: no local header at byte ", at);
  const std::size_t data = at + kLocalBytes + local.u16(26) + local.u16(28);
  return Record(bytes, data, entry.u32(20), archive).bytes();
}

ZipMember member_of(std::span<const std::byte> bytes, const Record& entry, std::string_view name,
                    const std::string& archive) {
  TW_CHECK((entry.u16(8) & 1) == 0, Unsupported, archive, ": ", name, " is encrypted");
  TW_CHECK(
      entry.u32(20) != 0xffffffff && entry.u32(24) != 0xffffffff && entry.u32(42) != 0xffffffff,
      Unsupported, archive, ": ", name, " is stored as ZIP64, which is not read here");
  return {entry.u16(10), entry.u32(16), entry.u32(24), packed_bytes(bytes, entry, archive)};
}

// Counts and checks what goes through.
class CheckedSink {
 public:
  CheckedSink(const ZipMember& member, const std::string& archive,
              const std::function<void(std::span<const std::byte>)>& sink)
      : member_(member), archive_(archive), sink_(sink) {}

  void write(std::span<const std::byte> bytes) {
    TW_CHECK(bytes.size() <= member_.size - written_, Format, archive_,
             ": damaged ZIP archive: more than the ", member_.size, " bytes it promises");
    const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
    crc_ = ::crc32(crc_, data, static_cast<uInt>(bytes.size()));
    written_ += bytes.size();
    sink_(bytes);
  }

  void finish() const {
    TW_CHECK(written_ == member_.size, Format, archive_, ": damaged ZIP archive: ", written_,
             " bytes where it promises ", member_.size);
    TW_CHECK(crc_ == member_.crc, Format, archive_,
             ": damaged ZIP archive: its CRC does not match");
  }

 private:
  const ZipMember& member_;
  const std::string& archive_;
  const std::function<void(std::span<const std::byte>)>& sink_;
  std::size_t written_ = 0;
  uLong crc_ = ::crc32(0, nullptr, 0);
};

struct Inflater {
  z_stream stream{};
  Inflater() {
    // Negative window bits: raw deflate data, without zlib's own header.
    TW_CHECK(::inflateInit2(&stream, -MAX_WBITS) == Z_OK, OutOfMemory, "zlib could not start");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream); }
};

void inflate_all(std::span<const std::byte> packed, const std::string& archive, CheckedSink& sink) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  std::vector<std::byte> out(std::size_t{256} << 10);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());  // below 4 GiB, since no ZIP64
  for (int state = Z_OK; state != Z_STREAM_END;) {
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    state = ::inflate(&stream, Z_NO_FLUSH);
    TW_CHECK(state == Z_OK || state == Z_STREAM_END, Format, archive,
             ": damaged ZIP archive: ", stream.msg == nullptr ? "data end early" : stream.msg);
    sink.write(std::span(out).first(out.size() - stream.avail_out));
  }
}

}  // namespace

ZipMember find_zip_member(std::span<const std::byte> bytes, std::string_view member,
                          const std::string& archive) {
  const Record end = find_end(bytes, archive);
  const std::size_t entries = end.u16(10);
  std::size_t at = end.u32(16);
  TW_CHECK(entries != 0xffff && at != 0xffffffff, Unsupported, archive,
           ": a ZIP64 archive, which is not read here");
  for (std::size_t i = 0; i < entries; ++i) {
    const Record entry(bytes, at, kEntryBytes, archive);
    TW_CHECK(entry.u32(0) == kEntryMagic, Format, archive,
             ": damaged ZIP archive: no directory entry at byte ", at);
    const std::size_t name_size = entry.u16(28);
    if (Record(bytes, at + kEntryBytes, name_size, archive).text() == member)
      return member_of(bytes, entry, member, archive);
    at += kEntryBytes + name_size + entry.u16(30) + entry.u16(32);
  }
  TW_FAIL(NotFound, archive, ": has no member ", member);
}

void unpack_zip_member(const ZipMember& member, const std::string& archive,
                       const std::function<void(std::span<const std::byte>)>& sink) {
  CheckedSink checked(member, archive, sink);
  if (member.method == kDeflated) {
    inflate_all(member.packed, archive, checked);
  } else {
    TW_CHECK(member.method == kStored, Unsupported, archive, ": compression method ", member.method,
             " is not read here, only 0 (stored) and 8 (deflated)");
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    for (auto rest = member.packed; !rest.empty();
         rest = rest.subspan(std::min(kPiece, rest.size())))
      checked.write(rest.first(std::min(kPiece, rest.size())));
  }
  checked.finish();
}

}  // namespace tilewright::cli
