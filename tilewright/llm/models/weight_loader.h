// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

#include "tilewright/llm/formats/weights.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

// Bytes of weights placed so far, and in all.
using LoadProgress = std::function<void(std::size_t done, std::size_t total)>;

// Places the tensors of a model file on a device. On cpu they stay in the mapped file.
class WeightLoader {
 public:
  // `dtype`: float32, float16 and bfloat16 matrices are converted to it; block types never are.
  WeightLoader(const WeightSource& source, const Stream& stream, std::optional<DType> dtype = {},
               LoadProgress progress = nullptr);

  // [rows, cols]; a matrix stored transposed is turned. Throws NotFound, FormatError.
  Tensor matrix(const std::string& name, std::int64_t rows, std::int64_t cols);
  // [size] f32.
  Tensor vector(const std::string& name, std::int64_t size);
  Tensor vector_or_none(const std::string& name, std::int64_t size);
  // Vectors one after the other, as one; undefined when none of them is there.
  Tensor joined(std::initializer_list<std::string> names,
                std::initializer_list<std::int64_t> sizes);
  bool has(const std::string& name) const { return source_.find(name) != nullptr; }
  const Stream& stream() const { return stream_; }

 private:
  Tensor place(const TensorInfo& info, const Shape& shape);
  Tensor place_values(const std::vector<float>& values, const Shape& shape, DType dtype);
  void advance(const TensorInfo& info);

  const WeightSource& source_;
  Stream stream_;
  std::optional<DType> dtype_;
  LoadProgress progress_;
  std::size_t done_ = 0, total_ = 0;
};

}  // namespace tilewright
