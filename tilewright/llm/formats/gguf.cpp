// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/formats/gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "tilewright/llm/formats/byte_reader.h"
#include "tilewright/llm/formats/gguf_types.h"

namespace tilewright {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF is read as stored");

constexpr std::uint32_t kMaxDims = 4;
constexpr std::uint64_t kMaxKeyBytes = 65535;

std::size_t scalar_bytes(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool: return 1;
    case GgufType::kU16:
    case GgufType::kI16: return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32: return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64: return 8;
    case GgufType::kString:
    case GgufType::kArray: break;
  }
  return 0;
}

class Parser {
 public:
  Parser(std::span<const std::byte> bytes, std::string_view location)
      : in_(bytes, location), location_(location) {}

  ByteReader& in() { return in_; }

  std::string_view string(std::string_view what, std::uint64_t limit) {
    const auto length = in_.read<std::uint64_t>(what);
    TW_CHECK(length <= limit, Format, location_, ": at offset ", in_.offset(), ": ", what, " is ",
             length, " bytes long, at most ", limit, " make sense");
    return as_text(in_.take(length, what));
  }

  // A count of records of at least `least` bytes each: bounded by what is left, so that a wild
  // count fails here and not in an allocation.
  std::uint64_t count(std::string_view what, std::uint64_t least) {
    const auto value = in_.read<std::uint64_t>(what);
    check_count(value, what, least);
    return value;
  }

  void check_count(std::uint64_t value, std::string_view what, std::uint64_t least) {
    TW_CHECK(value <= in_.remaining() / least, Format, location_, ": ", what, " is ", value,
             ", more than the ", in_.remaining(), " bytes that are left can hold");
  }

  GgufType type(std::string_view key) {
    const auto number = in_.read<std::uint32_t>(key);
    TW_CHECK(number <= static_cast<std::uint32_t>(GgufType::kF64), Format, location_, ": key ", key,
             ": unknown value type ", number);
    return static_cast<GgufType>(number);
  }

  GgufArray array(std::string_view key) {
    GgufArray result;
    result.type = type(key);
    TW_CHECK(result.type != GgufType::kArray, Unsupported, location_, ": key ", key,
             ": arrays of arrays are not supported");
    const bool strings = result.type == GgufType::kString;
    const std::size_t least = strings ? sizeof(std::uint64_t) : scalar_bytes(result.type);
    result.count = in_.read<std::uint64_t>(key);
    check_count(result.count, key, least);
    if (!strings) {
      result.data = in_.take(result.count * least, key);
      return result;
    }
    ByteReader scan = in_;
    for (std::uint64_t i = 0; i < result.count; ++i) scan.take(scan.read<std::uint64_t>(key), key);
    result.data = in_.take(scan.offset() - in_.offset(), key);
    return result;
  }

  GgufValue value(std::string_view key) {
    switch (type(key)) {
      case GgufType::kU8: return std::uint64_t{in_.read<std::uint8_t>(key)};
      case GgufType::kU16: return std::uint64_t{in_.read<std::uint16_t>(key)};
      case GgufType::kU32: return std::uint64_t{in_.read<std::uint32_t>(key)};
      case GgufType::kU64: return in_.read<std::uint64_t>(key);
      case GgufType::kI8: return std::int64_t{in_.read<std::int8_t>(key)};
      case GgufType::kI16: return std::int64_t{in_.read<std::int16_t>(key)};
      case GgufType::kI32: return std::int64_t{in_.read<std::int32_t>(key)};
      case GgufType::kI64: return in_.read<std::int64_t>(key);
      case GgufType::kF32: return double{in_.read<float>(key)};
      case GgufType::kF64: return in_.read<double>(key);
      case GgufType::kBool: return in_.read<std::uint8_t>(key) != 0;
      case GgufType::kString: return string(key, std::numeric_limits<std::uint64_t>::max());
      case GgufType::kArray: return array(key);
    }
    TW_FAIL(Internal, "GGUF value type out of range");
  }

  // Leaves `offset` relative to the data section.
  TensorInfo tensor(std::uint64_t& offset) {
    TensorInfo info;
    info.name = string("a tensor's name", kMaxKeyBytes);
    const auto rank = in_.read<std::uint32_t>(info.name);
    TW_CHECK(rank <= kMaxDims, Format, location_, ": tensor ", info.name, ": ", rank,
             " dimensions, at most ", kMaxDims);
    std::array<std::int64_t, kMaxDims> extents{};
    for (std::uint32_t i = 0; i < rank; ++i) {
      const auto extent = in_.read<std::uint64_t>(info.name);
      TW_CHECK(extent <= std::uint64_t{1} << 48, Format, location_, ": tensor ", info.name,
               ": dimension ", i, " is ", extent, ", which cannot be");
      extents[rank - 1 - i] = static_cast<std::int64_t>(extent);
    }
    info.shape = Shape(std::span<const std::int64_t>(extents.data(), rank));
    const auto type = in_.read<std::uint32_t>(info.name);
    const auto dtype = gguf_dtype(type);
    TW_CHECK(dtype.has_value(), Unsupported, location_, ": tensor ", info.name, ": quantisation ",
             gguf_type_name(type), " is not supported; supported are ", gguf_supported_types());
    info.dtype = *dtype;
    const int block = tilewright::info(info.dtype).block;
    TW_CHECK(block == 1 || (rank > 0 && info.shape[-1] % block == 0), Format, location_,
             ": tensor ", info.name, ": rows of shape ", info.shape, " are not whole ",
             name(info.dtype), " blocks of ", block);
    offset = in_.read<std::uint64_t>(info.name);
    return info;
  }

  // Bytes of the tensor, checked against the end of the file.
  void place(TensorInfo& info, std::span<const std::byte> data, std::uint64_t offset,
             std::uint64_t alignment) {
    TW_CHECK(offset % alignment == 0, Format, location_, ": tensor ", info.name, ": offset ",
             offset, " is no multiple of the alignment ", alignment);
    std::size_t bytes = 0;
    try {
      bytes = bytes_of(info.dtype, element_count(info.shape));
    } catch (const Error& error) {
      TW_FAIL(Format, location_, ": tensor ", info.name, ": ", error.what());
    }
    TW_CHECK(offset <= data.size() && bytes <= data.size() - offset, Format, location_,
             ": truncated: tensor ", info.name, " wants ", bytes, " bytes at offset ", offset,
             " of the data section, which has ", data.size());
    info.data = data.subspan(static_cast<std::size_t>(offset), bytes);
  }

 private:
  ByteReader in_;
  std::string_view location_;
};

std::uint32_t read_version(ByteReader& in, std::string_view location) {
  const std::string_view magic =
      as_text(in.take(std::min<std::size_t>(4, in.remaining()), "magic"));
  TW_CHECK(magic == "GGUF", Format, location,
           ": not a GGUF file: it does not start with the letters GGUF");
  const auto version = in.read<std::uint32_t>("version");
  TW_CHECK((version & 0xFFFFU) != 0, Unsupported, location, ": big-endian GGUF is not supported");
  TW_CHECK(version == 2 || version == 3, Unsupported, location, ": GGUF version ", version,
           " is not supported; versions 2 and 3 are");
  return version;
}

}  // namespace

GgufFile::GgufFile(const std::filesystem::path& path) : location_(path.string()) {
  const MappedFile file(path);
  owner_ = file.owner();
  parse(file.bytes());
}

GgufFile::GgufFile(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                   std::string location)
    : location_(std::move(location)), owner_(std::move(owner)) {
  parse(bytes);
}

void GgufFile::parse(std::span<const std::byte> bytes) {
  Parser parser(bytes, location_);
  version_ = read_version(parser.in(), location_);
  // Least bytes of a record: empty name, type and value; or name, rank, type, offset.
  const auto tensors = parser.in().read<std::uint64_t>("tensor count");
  const auto pairs = parser.count("metadata count", 8 + 4 + 1);
  parser.check_count(tensors, "tensor count", 8 + 4 + 4 + 8);
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const std::string_view key = parser.string("a metadata key", kMaxKeyBytes);
    TW_CHECK(metadata_.emplace(key, parser.value(key)).second, Format, location_, ": key ", key,
             " appears twice");
  }
  const std::int64_t alignment = get_int("general.alignment", 32);
  TW_CHECK(alignment > 0 && alignment <= 1 << 20 && std::has_single_bit(std::uint64_t(alignment)),
           Format, location_, ": general.alignment is ", alignment, ", wants a power of two");
  std::vector<std::pair<TensorInfo*, std::uint64_t>> offsets;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    std::uint64_t offset = 0;
    TensorInfo info = parser.tensor(offset);
    const auto [place, added] = tensors_.emplace(info.name, info);
    TW_CHECK(added, Format, location_, ": tensor ", info.name, " appears twice");
    offsets.emplace_back(&place->second, offset);
  }
  const std::size_t unit = static_cast<std::size_t>(alignment);
  const std::size_t begin = std::min((parser.in().offset() + unit - 1) / unit * unit, bytes.size());
  for (auto& [info, offset] : offsets) parser.place(*info, bytes.subspan(begin), offset, unit);
}

const TensorInfo* GgufFile::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::vector<std::string> GgufFile::names() const {
  std::vector<std::string> result;
  for (const auto& [name, info] : tensors_) result.push_back(name);
  return result;
}

}  // namespace tilewright
