// SPDX-License-Identifier: Apache-2.0
// Writes small GGUF files for tests, also damaged ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/llm/formats/gguf.h"

namespace tilewright::fixtures {

class GgufWriter {
 public:
  std::uint32_t version = 3;
  std::uint64_t extra_tensors = 0, extra_pairs = 0;  // added to the counts in the header

  template <class T>
  static void put(std::string& out, T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out.append(bytes, sizeof(T));
  }
  static void put_text(std::string& out, std::string_view text) {
    put(out, std::uint64_t(text.size()));
    out += text;
  }

  GgufWriter& raw(std::string_view key, GgufType type, std::string_view value) {
    put_text(pairs_, key);
    put(pairs_, std::uint32_t(type));
    pairs_ += value;
    ++pair_count_;
    return *this;
  }
  template <class T>
  GgufWriter& number(std::string_view key, GgufType type, T value) {
    std::string bytes;
    put(bytes, value);
    return raw(key, type, bytes);
  }
  GgufWriter& integer(std::string_view key, std::uint32_t value) {
    return number(key, GgufType::kU32, value);
  }
  GgufWriter& real(std::string_view key, float value) { return number(key, GgufType::kF32, value); }
  GgufWriter& text(std::string_view key, std::string_view value) {
    std::string bytes;
    put_text(bytes, value);
    return raw(key, GgufType::kString, bytes);
  }
  GgufWriter& texts(std::string_view key, const std::vector<std::string>& values) {
    std::string bytes;
    put(bytes, std::uint32_t(GgufType::kString));
    put(bytes, std::uint64_t(values.size()));
    for (const std::string& value : values) put_text(bytes, value);
    return raw(key, GgufType::kArray, bytes);
  }
  GgufWriter& integers(std::string_view key, const std::vector<std::int32_t>& values) {
    std::string bytes;
    put(bytes, std::uint32_t(GgufType::kI32));
    put(bytes, std::uint64_t(values.size()));
    for (const std::int32_t value : values) put(bytes, value);
    return raw(key, GgufType::kArray, bytes);
  }

  // `shape` outermost first, as TensorInfo has it.
  GgufWriter& tensor(std::string_view name, std::vector<std::uint64_t> shape, std::uint32_t type,
                     std::size_t bytes) {
    return tensor_at(name, std::move(shape), type, data_.size(), bytes);
  }
  GgufWriter& tensor_at(std::string_view name, std::vector<std::uint64_t> shape, std::uint32_t type,
                        std::uint64_t offset, std::size_t bytes) {
    put_text(infos_, name);
    put(infos_, std::uint32_t(shape.size()));
    for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) put(infos_, *extent);
    put(infos_, type);
    put(infos_, offset);
    for (std::size_t i = 0; i < bytes; ++i) data_ += char(i * 7 + tensor_count_);
    data_.resize((data_.size() + 31) / 32 * 32);
    ++tensor_count_;
    return *this;
  }

  // Metadata and tensor descriptions, without padding.
  std::string header() const {
    std::string out = "GGUF";
    put(out, version);
    put(out, std::uint64_t(tensor_count_) + extra_tensors);
    put(out, std::uint64_t(pair_count_) + extra_pairs);
    return out + pairs_ + infos_;
  }
  std::string bytes() const {
    std::string out = header();
    out.resize((out.size() + 31) / 32 * 32);
    return out + data_;
  }

 private:
  std::string pairs_, infos_, data_;
  std::uint64_t pair_count_ = 0, tensor_count_ = 0;
};

// A complete Llama model of one layer: 2 heads of 4, 1 key/value head, 16 tokens.
inline GgufWriter tiny_llama() {
  GgufWriter file;
  file.text("general.architecture", "llama").text("general.name", "tiny");
  file.integer("llama.block_count", 1).integer("llama.embedding_length", 8);
  file.integer("llama.feed_forward_length", 16).integer("llama.attention.head_count", 2);
  file.integer("llama.attention.head_count_kv", 1).integer("llama.context_length", 32);
  file.real("llama.attention.layer_norm_rms_epsilon", 1e-5F).real("llama.rope.freq_base", 500.0F);
  const auto f32 = [&](const char* name, std::vector<std::uint64_t> shape) {
    std::size_t count = 4;
    for (const std::uint64_t extent : shape) count *= extent;
    file.tensor(name, std::move(shape), 0, count);
  };
  f32("token_embd.weight", {16, 8});
  f32("output_norm.weight", {8});
  f32("blk.0.attn_norm.weight", {8});
  f32("blk.0.ffn_norm.weight", {8});
  f32("blk.0.attn_q.weight", {8, 8});
  f32("blk.0.attn_k.weight", {4, 8});
  f32("blk.0.attn_v.weight", {4, 8});
  f32("blk.0.attn_output.weight", {8, 8});
  f32("blk.0.ffn_gate.weight", {16, 8});
  f32("blk.0.ffn_up.weight", {16, 8});
  f32("blk.0.ffn_down.weight", {8, 16});
  return file;
}

}  // namespace tilewright::fixtures
