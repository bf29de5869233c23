// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/formats/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tilewright/base/files.h"
#include "tilewright/llm/formats/byte_reader.h"
#include "tilewright/llm/formats/json_access.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

// The format's own limit.
constexpr std::uint64_t kMaxHeader = 100'000'000;

DType parse_type(const std::string& type, std::string_view where) {
  static const std::map<std::string, DType, std::less<>> kTypes{
      {"F32", DType::f32},       {"F16", DType::f16},    {"BF16", DType::bf16},
      {"I8", DType::i8},         {"U8", DType::u8},      {"I32", DType::i32},
      {"I64", DType::i64},       {"BOOL", DType::bool8}, {"F8_E4M3", DType::f8e4m3},
      {"F8_E5M2", DType::f8e5m2}};
  const auto found = kTypes.find(type);
  TW_CHECK(found != kTypes.end(), Unsupported, where, ": dtype ", type,
           " is not supported; supported are F32, F16, BF16, F8_E4M3, F8_E5M2, I8, U8, I32, I64, "
           "BOOL");
  return found->second;
}

Shape parse_shape(const Json& value, std::string_view where) {
  TW_CHECK(value.is_array() && value.size() <= kMaxRank, Format, where,
           ": shape wants an array of at most ", kMaxRank, " extents");
  Shape shape;
  for (const Json& extent : value) {
    const std::int64_t number = json_int(extent, "an extent of the shape", where);
    TW_CHECK(number >= 0, Format, where, ": an extent of the shape is ", number);
    shape.push_back(number);
  }
  return shape;
}

TensorInfo parse_tensor(const std::string& name, const Json& value, std::span<const std::byte> data,
                        std::string_view location) {
  const std::string where = str(location, ": tensor ", name);
  const JsonObject<Json> object(value, where);
  TensorInfo info;
  info.name = name;
  info.dtype = parse_type(object.text("dtype"), where);
  info.shape = parse_shape(object.get("shape"), where);
  const Json& offsets = object.get("data_offsets");
  TW_CHECK(offsets.is_array() && offsets.size() == 2, Format, where,
           ": data_offsets wants two numbers");
  const std::int64_t begin = json_int(offsets[0], "data_offsets[0]", where);
  const std::int64_t end = json_int(offsets[1], "data_offsets[1]", where);
  TW_CHECK(begin >= 0 && begin <= end && std::uint64_t(end) <= data.size(), Format, where,
           ": truncated or damaged: data_offsets are ", begin, " and ", end, ", the file has ",
           data.size(), " bytes of tensors");
  std::size_t bytes = 0;
  try {
    bytes = bytes_of(info.dtype, element_count(info.shape));
  } catch (const Error& error) {
    TW_FAIL(Format, where, ": ", error.what());
  }
  TW_CHECK(std::uint64_t(end - begin) == bytes, Format, where, ": ", info.dtype, " of shape ",
           info.shape, " wants ", bytes, " bytes, data_offsets hold ", end - begin);
  info.data = data.subspan(std::size_t(begin), bytes);
  return info;
}

// The format says: the tensors cover the data section with neither hole nor overlap.
void check_coverage(const std::vector<TensorInfo>& tensors, std::span<const std::byte> data,
                    std::string_view location) {
  std::vector<std::span<const std::byte>> spans;
  for (const TensorInfo& tensor : tensors) spans.push_back(tensor.data);
  std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
    return std::pair(a.data(), a.size()) < std::pair(b.data(), b.size());
  });
  const std::byte* at = data.data();
  for (const auto& span : spans) {
    TW_CHECK(span.data() == at, Format, location,
             ": tensors overlap or leave a hole at data offset ", at - data.data());
    at += span.size();
  }
  TW_CHECK(at == data.data() + data.size(), Format, location, ": ", data.data() + data.size() - at,
           " bytes after the last tensor belong to none");
}

}  // namespace

std::vector<TensorInfo> parse_safetensors(std::span<const std::byte> bytes,
                                          std::string_view location) {
  ByteReader in(bytes, location);
  const auto length = in.read<std::uint64_t>("header length");
  TW_CHECK(length <= kMaxHeader, Format, location, ": not a safetensors file: header length is ",
           length, ", at most ", kMaxHeader);
  const std::string_view text = as_text(in.take(length, "header"));
  TW_CHECK(text.starts_with('{'), Format, location,
           ": not a safetensors file: the header does not start with '{'");
  const auto header = parse_json<Json>(text, location);
  const auto data = bytes.subspan(in.offset());
  std::vector<TensorInfo> tensors;
  for (const auto& [name, value] : header.items()) {
    if (name != "__metadata__") tensors.push_back(parse_tensor(name, value, data, location));
  }
  check_coverage(tensors, data, location);
  return tensors;
}

namespace {

using Owners = std::vector<std::shared_ptr<const void>>;

// File name of each shard, and which tensors the index says it has.
std::map<std::string, std::set<std::string>> read_index(const std::filesystem::path& path) {
  const std::string where = path.string();
  const auto index = parse_json<Json>(read_text_file(path, kMaxHeader), where);
  const Json& weights = JsonObject<Json>(index, where).get("weight_map");
  TW_CHECK(weights.is_object(), Format, where, ": weight_map wants an object");
  std::map<std::string, std::set<std::string>> shards;
  for (const auto& [tensor, file] : weights.items()) {
    const std::string& shard = json_text(file, "a value of weight_map", where);
    TW_CHECK(!shard.empty() && shard.find('/') == std::string::npos && shard != "..", Format, where,
             ": weight_map: '", shard, "' is no file name");
    shards[shard].insert(tensor);
  }
  TW_CHECK(!shards.empty(), Format, where, ": weight_map is empty");
  return shards;
}

}  // namespace

SafetensorsFolder::SafetensorsFolder(const std::filesystem::path& folder, const NameMap& canonical)
    : location_(folder.string()) {
  const auto owners = std::make_shared<Owners>();
  const auto add_file = [&](const std::filesystem::path& path) {
    const MappedFile file(path);
    owners->push_back(file.owner());
    std::set<std::string> stored;
    for (TensorInfo& tensor : parse_safetensors(file.bytes(), path.string())) {
      stored.insert(tensor.name);
      const CanonicalName mapped = canonical(tensor.name);
      if (mapped.name.empty()) continue;
      tensor.transposed = mapped.transposed;
      const std::string original = std::exchange(tensor.name, mapped.name);
      TW_CHECK(tensors_.emplace(mapped.name, tensor).second, Format, path.string(), ": tensor ",
               original, ": ", mapped.name, " was already given by another tensor");
    }
    return stored;
  };
  const auto single = folder / "model.safetensors";
  const auto index = folder / "model.safetensors.index.json";
  if (std::filesystem::exists(index)) {
    for (const auto& [shard, wanted] : read_index(index)) {
      const std::set<std::string> stored = add_file(folder / shard);
      for (const std::string& tensor : wanted) {
        TW_CHECK(stored.contains(tensor), NotFound, (folder / shard).string(), ": tensor ", tensor,
                 " is missing, which model.safetensors.index.json promises");
      }
    }
  } else {
    TW_CHECK(std::filesystem::exists(single), NotFound, location_,
             ": no weights: neither model.safetensors nor model.safetensors.index.json is there");
    add_file(single);
  }
  owner_ = owners;
}

const TensorInfo* SafetensorsFolder::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::vector<std::string> SafetensorsFolder::names() const {
  std::vector<std::string> result;
  for (const auto& [name, info] : tensors_) result.push_back(name);
  return result;
}

}  // namespace tilewright
