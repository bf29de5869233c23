// SPDX-License-Identifier: Apache-2.0
#include "tilewright/harness/samples.h"

#include <cstring>

#include "tilewright/base/error.h"
#include "tilewright/device/core/rng.h"

namespace tilewright {
namespace {

constexpr std::uint8_t kPattern = 0xff;  // NaN in f32, f16 and bf16
constexpr std::int64_t kGuardBytes = 256;

std::uint32_t random_bits(std::uint64_t seed, std::int64_t index) {
  const auto counter = std::uint64_t(index);
  return philox4x32_10(seed, {{std::uint32_t(counter), std::uint32_t(counter >> 32), 0x7e57u, 0u}})
      .word[0];
}

void encode(float value, DType dtype, std::uint8_t* out) {
  switch (dtype) {
    case DType::f32: std::memcpy(out, &value, 4); return;
    case DType::f16: {
      const half bits = from_float<half>(value);
      return void(std::memcpy(out, &bits, 2));
    }
    case DType::bf16: {
      const bf16 bits = from_float<bf16>(value);
      return void(std::memcpy(out, &bits, 2));
    }
    case DType::i32: {
      const auto integer = std::int32_t(value);
      return void(std::memcpy(out, &integer, 4));
    }
    default: TW_FAIL(InvalidArgument, "samples: got dtype ", dtype, "; takes f32, f16, bf16, i32");
  }
}

double decode(const std::uint8_t* in, DType dtype) {
  switch (dtype) {
    case DType::f32: {
      float value;
      std::memcpy(&value, in, 4);
      return value;
    }
    case DType::f16: {
      half bits;
      std::memcpy(&bits, in, 2);
      return to_float(bits);
    }
    case DType::bf16: {
      bf16 bits;
      std::memcpy(&bits, in, 2);
      return to_float(bits);
    }
    case DType::i32: {
      std::int32_t integer;
      std::memcpy(&integer, in, 4);
      return integer;
    }
    default: TW_FAIL(InvalidArgument, "samples: got dtype ", dtype, "; takes f32, f16, bf16, i32");
  }
}

// Elements before the tensor, and the gap after each row.
std::int64_t gap_of(Layout layout) {
  return layout == Layout::kContiguous ? 0 : layout == Layout::kStrided ? 24 : 1;
}

Shape strides_of(const Shape& shape, Layout layout) {
  Shape strides = contiguous_strides(shape);
  if (shape.rank() < 2) return strides;
  const std::int64_t last = shape[-1], row = last + gap_of(layout);
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) {
    strides[axis] = last == 0 ? row : strides[axis] / last * row;
  }
  return strides;
}

// Byte offsets of the elements, row-major.
template <class Visit>
void for_each_element(const Tensor& tensor, const Visit& visit) {
  const std::int64_t count = tensor.numel(), size = info(tensor.dtype()).bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, offset = 0;
    for (int axis = tensor.rank() - 1; axis >= 0; --axis) {
      offset += rest % tensor.size(axis) * tensor.stride(axis);
      rest /= tensor.size(axis);
    }
    visit(i, offset * size);
  }
}

}  // namespace

std::vector<float> random_floats(std::int64_t count, std::uint64_t seed, float low, float high) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const float unit = float(random_bits(seed, i) >> 8) * 0x1p-24f;
    values[std::size_t(i)] = low + (high - low) * unit;
  }
  return values;
}

std::vector<std::int32_t> random_integers(std::int64_t count, std::uint64_t seed, std::int32_t low,
                                          std::int32_t past) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  const auto range = std::uint64_t(std::int64_t(past) - low);
  for (std::int64_t i = 0; i < count; ++i) {
    values[std::size_t(i)] = low + std::int32_t((random_bits(seed, i) * range) >> 32);
  }
  return values;
}

Guarded::Guarded(const Shape& shape, DType dtype, Layout layout, const Stream& stream) {
  const std::int64_t size = info(dtype).bytes;
  const Shape strides = strides_of(shape, layout);
  std::int64_t extent = element_count(shape) == 0 ? 0 : 1;
  for (int axis = 0; extent > 0 && axis < shape.rank(); ++axis) {
    extent += (shape[axis] - 1) * strides[axis];
  }
  const std::int64_t before = kGuardBytes + (layout == Layout::kMisaligned ? size : 0);
  const std::int64_t total = before + extent * size + kGuardBytes;
  storage_ = Tensor::empty({total}, DType::u8, stream);
  fill_bytes(storage_.data(), stream.device(), kPattern, std::size_t(total), stream);
  auto* first = static_cast<std::uint8_t*>(storage_.data()) + before;
  tensor_ = Tensor::wrap(first, shape, strides, dtype, stream.device(),
                         std::make_shared<Buffer>(storage_.buffer()));
}

Guarded::Guarded(const Shape& shape, DType dtype, Layout layout, const std::vector<float>& values,
                 const Stream& stream)
    : Guarded(shape, dtype, layout, stream) {
  TW_CHECK(std::int64_t(values.size()) == tensor_.numel(), InvalidArgument, "Guarded: got ",
           values.size(), " values for shape ", shape);
  std::vector<std::uint8_t> bytes = read_all(stream);
  const auto start =
      static_cast<std::uint8_t*>(tensor_.data()) - static_cast<std::uint8_t*>(storage_.data());
  for_each_element(tensor_, [&](std::int64_t i, std::int64_t offset) {
    encode(values[std::size_t(i)], dtype, bytes.data() + start + offset);
  });
  copy_bytes(storage_.data(), stream.device(), bytes.data(), Device::cpu(), bytes.size(), stream);
  stream.synchronize();
}

std::vector<std::uint8_t> Guarded::read_all(const Stream& stream) const {
  std::vector<std::uint8_t> bytes(storage_.bytes());
  storage_.to_host(bytes.data(), stream);
  return bytes;
}

std::vector<double> Guarded::values(const Stream& stream) const {
  const std::vector<std::uint8_t> bytes = read_all(stream);
  const auto start =
      static_cast<std::uint8_t*>(tensor_.data()) - static_cast<std::uint8_t*>(storage_.data());
  std::vector<double> values(static_cast<std::size_t>(tensor_.numel()));
  for_each_element(tensor_, [&](std::int64_t i, std::int64_t offset) {
    values[std::size_t(i)] = decode(bytes.data() + start + offset, tensor_.dtype());
  });
  return values;
}

std::int64_t Guarded::damaged_bytes(const Stream& stream) const {
  std::vector<std::uint8_t> bytes = read_all(stream);
  const auto start =
      static_cast<std::uint8_t*>(tensor_.data()) - static_cast<std::uint8_t*>(storage_.data());
  for_each_element(tensor_, [&](std::int64_t, std::int64_t offset) {
    std::memset(bytes.data() + start + offset, kPattern, std::size_t(info(tensor_.dtype()).bytes));
  });
  std::int64_t damaged = 0;
  for (const std::uint8_t byte : bytes) damaged += byte != kPattern;
  return damaged;
}

std::vector<double> values_of(const Tensor& tensor, const Stream& stream) {
  std::vector<std::uint8_t> bytes(tensor.bytes());
  tensor.to_host(bytes.data(), stream);
  std::vector<double> values(static_cast<std::size_t>(tensor.numel()));
  const auto size = std::size_t(info(tensor.dtype()).bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = decode(bytes.data() + i * size, tensor.dtype());
  }
  return values;
}

std::vector<double> rounded(const std::vector<float>& values, DType dtype) {
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint8_t bytes[4];
    encode(values[i], dtype, bytes);
    result[i] = decode(bytes, dtype);
  }
  return result;
}

Tensor tensor_of(const std::vector<float>& values, const Shape& shape, DType dtype,
                 const Stream& stream) {
  const auto size = std::size_t(info(dtype).bytes);
  std::vector<std::uint8_t> bytes(values.size() * size + 1);
  for (std::size_t i = 0; i < values.size(); ++i) encode(values[i], dtype, bytes.data() + i * size);
  return Tensor::from_host(bytes.data(), shape, dtype, stream);
}

Tensor tensor_of(const std::vector<std::int32_t>& values, const Stream& stream) {
  return Tensor::from_host(values.data(), {std::int64_t(values.size())}, DType::i32, stream);
}

}  // namespace tilewright
