// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/models/weight_loader.h"

#include <cstring>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/device/core/types.h"

namespace tilewright {
namespace {

constexpr std::int64_t kConvertGrain = 1 << 16;

bool is_plain_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

// The file need not align its tensors.
template <class T>
void read_as_float(const std::byte* source, float* values, std::int64_t count) {
  parallel_for(count, kConvertGrain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      T element;
      std::memcpy(&element, source + i * std::int64_t{sizeof(T)}, sizeof(T));
      values[i] = to_float(element);
    }
  });
}

template <class T>
std::vector<T> converted(const std::vector<float>& values) {
  std::vector<T> result(values.size());
  parallel_for(std::int64_t(values.size()), kConvertGrain,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i)
                   result[std::size_t(i)] = from_float<T>(values[std::size_t(i)]);
               });
  return result;
}

std::vector<float> as_float(const TensorInfo& info) {
  std::vector<float> values(std::size_t(element_count(info.shape)));
  const auto count = std::int64_t(values.size());
  switch (info.dtype) {
    case DType::f32: read_as_float<float>(info.data.data(), values.data(), count); break;
    case DType::f16: read_as_float<half>(info.data.data(), values.data(), count); break;
    case DType::bf16: read_as_float<bf16>(info.data.data(), values.data(), count); break;
    default:
      TW_FAIL(Unsupported, "tensor ", info.name, " is ", info.dtype,
              "; as a vector or transposed it has to be f32, f16 or bf16");
  }
  return values;
}

std::vector<float> turned(const std::vector<float>& values, std::int64_t rows, std::int64_t cols) {
  std::vector<float> result(values.size());
  parallel_for(cols, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c)
      for (std::int64_t r = 0; r < rows; ++r)
        result[std::size_t(c * rows + r)] = values[std::size_t(r * cols + c)];
  });
  return result;
}

bool aligned(const TensorInfo& info) {
  const std::size_t element =
      is_block_type(info.dtype) ? 2 : std::size_t(tilewright::info(info.dtype).bytes);
  return reinterpret_cast<std::uintptr_t>(info.data.data()) % element == 0;
}

}  // namespace

WeightLoader::WeightLoader(const WeightSource& source, const Stream& stream,
                           std::optional<DType> dtype, LoadProgress progress)
    : source_(source), stream_(stream), dtype_(dtype), progress_(std::move(progress)) {
  TW_CHECK(!dtype || is_plain_float(*dtype), InvalidArgument, "weights cannot be converted to ",
           *dtype, "; wants f32, f16 or bf16");
  for (const std::string& name : source.names()) total_ += source.get(name).data.size();
}

void WeightLoader::advance(const TensorInfo& info) {
  done_ += info.data.size();
  if (progress_) progress_(done_, total_);
}

Tensor WeightLoader::place_values(const std::vector<float>& values, const Shape& shape,
                                  DType dtype) {
  switch (dtype) {
    case DType::f16:
      return Tensor::from_host(converted<half>(values).data(), shape, dtype, stream_);
    case DType::bf16:
      return Tensor::from_host(converted<bf16>(values).data(), shape, dtype, stream_);
    default: return Tensor::from_host(values.data(), shape, DType::f32, stream_);
  }
}

Tensor WeightLoader::place(const TensorInfo& info, const Shape& shape) {
  if (stream_.device().is_cpu() && aligned(info)) {
    auto* data = const_cast<std::byte*>(info.data.data());  // never written: weights are inputs
    return Tensor::wrap(data, shape, info.dtype, Device::cpu(), source_.owner());
  }
  return Tensor::from_host(info.data.data(), shape, info.dtype, stream_);
}

Tensor WeightLoader::matrix(const std::string& name, std::int64_t rows, std::int64_t cols) {
  const Shape shape{rows, cols};
  const TensorInfo& info = source_.get(name, shape);
  const bool convert = dtype_ && is_plain_float(info.dtype) && info.dtype != *dtype_;
  Tensor result;
  if (info.transposed) {
    result = place_values(turned(as_float(info), cols, rows), shape, dtype_.value_or(info.dtype));
  } else if (convert) {
    result = place_values(as_float(info), shape, *dtype_);
  } else {
    result = place(info, shape);
  }
  advance(info);
  return result;
}

Tensor WeightLoader::vector(const std::string& name, std::int64_t size) {
  const TensorInfo& info = source_.get(name, Shape{size});
  advance(info);
  return place_values(as_float(info), Shape{size}, DType::f32);
}

Tensor WeightLoader::vector_or_none(const std::string& name, std::int64_t size) {
  return has(name) ? vector(name, size) : Tensor();
}

Tensor WeightLoader::joined(std::initializer_list<std::string> names,
                            std::initializer_list<std::int64_t> sizes) {
  std::vector<float> values;
  bool any = false;
  const std::int64_t* size = sizes.begin();
  for (const std::string& name : names) {
    std::vector<float> part(std::size_t(*size), 0.0F);
    if (has(name)) {
      const TensorInfo& info = source_.get(name, Shape{*size});
      part = as_float(info);
      advance(info);
      any = true;
    }
    values.insert(values.end(), part.begin(), part.end());
    ++size;
  }
  if (!any) return {};
  return place_values(values, Shape{std::int64_t(values.size())}, DType::f32);
}

}  // namespace tilewright
