// SPDX-License-Identifier: Apache-2.0
// The safetensors format: eight bytes of header length, a JSON header, the tensors.
// Source: the format description of the safetensors project.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewright/llm/formats/weights.h"

namespace tilewright {

// Parses one file's bytes. Throws FormatError naming `location` and the tensor: header past the
// end, not JSON, offsets that overlap, leave holes or disagree with dtype and shape.
std::vector<TensorInfo> parse_safetensors(std::span<const std::byte> bytes,
                                          std::string_view location);

// A file's name for a tensor to ours; sets `transposed`. An empty name skips the tensor.
struct CanonicalName {
  std::string name;
  bool transposed = false;
};
using NameMap = std::function<CanonicalName(std::string_view)>;

// model.safetensors, or the shards that model.safetensors.index.json lists.
class SafetensorsFolder : public WeightSource {
 public:
  // Throws NotFound when the folder has neither, or lacks a shard; FormatError as above, and when
  // the index and the shards disagree.
  SafetensorsFolder(const std::filesystem::path& folder, const NameMap& canonical);

  const TensorInfo* find(std::string_view name) const override;
  std::vector<std::string> names() const override;
  std::string location() const override { return location_; }
  std::shared_ptr<const void> owner() const override { return owner_; }

 private:
  std::string location_;
  std::shared_ptr<const void> owner_;
  std::map<std::string, TensorInfo, std::less<>> tensors_;
};

}  // namespace tilewright
