// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/formats/weights.h"

#include "tilewright/base/error.h"

namespace tilewright {

WeightSource::~WeightSource() = default;

const TensorInfo& WeightSource::get(std::string_view name) const {
  const TensorInfo* tensor = find(name);
  TW_CHECK(tensor != nullptr, NotFound, location(), ": tensor ", name,
           " is missing; the file is incomplete or of another architecture");
  return *tensor;
}

const TensorInfo& WeightSource::get(std::string_view name, const Shape& shape) const {
  const TensorInfo& tensor = get(name);
  Shape stored = shape;
  if (tensor.transposed && shape.rank() == 2) stored = Shape{shape[1], shape[0]};
  TW_CHECK(tensor.shape == stored, Format, location(), ": tensor ", name, ": shape is ",
           tensor.shape, ", the model's configuration wants ", stored);
  return tensor;
}

}  // namespace tilewright
