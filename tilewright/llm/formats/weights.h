// SPDX-License-Identifier: Apache-2.0
// Named tensors of a model file, as descriptors over mapped bytes: nothing is copied.
//
// Names are canonical whatever the source; they are those of GGUF:
//   token_embd.weight [vocab, dim]   position_embd.weight [context, dim] (GPT-2)
//   output_norm.weight|bias          output.weight [vocab, dim] (absent when tied)
//   blk.N.attn_norm  blk.N.attn_q|attn_k|attn_v (Llama)  blk.N.attn_qkv (GPT-2)
//   blk.N.attn_output  blk.N.ffn_norm  blk.N.ffn_gate (Llama)  blk.N.ffn_up  blk.N.ffn_down
// each followed by .weight or .bias.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/dtype.h"
#include "tilewright/base/shape.h"

namespace tilewright {

struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;  // as stored, outermost first: [out, in] for a matrix
  // bytes_of(dtype, element_count(shape)) bytes. Aligned to 32 in GGUF files that say nothing
  // else; safetensors promises no alignment at all.
  std::span<const std::byte> data;
  // The matrix is stored [in, out], as Hugging Face's GPT-2 does: y = x W, not x W^T.
  bool transposed = false;
};

class WeightSource {
 public:
  virtual ~WeightSource();
  // Null when there is no such tensor. Valid while this source lives.
  virtual const TensorInfo* find(std::string_view name) const = 0;
  // Sorted.
  virtual std::vector<std::string> names() const = 0;
  // For messages: the file or folder.
  virtual std::string location() const = 0;
  // Keeps every map alive; pass it as the owner of tensors that point into `data`.
  virtual std::shared_ptr<const void> owner() const = 0;

  // Throws NotFound naming the tensor and the location.
  const TensorInfo& get(std::string_view name) const;
  // As get(); throws FormatError when the stored shape is another. `shape` is [out, in] for a
  // matrix, also when it is stored transposed.
  const TensorInfo& get(std::string_view name, const Shape& shape) const;
};

}  // namespace tilewright
