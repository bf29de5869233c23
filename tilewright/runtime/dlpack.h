// SPDX-License-Identifier: Apache-2.0
// Tensors to and from other libraries without a copy. The structures are DLPack's, declared here
// bit for bit. Source: DLPack 1.1, https://dmlc.github.io/dlpack.
#pragma once

#include <cstdint>

#include "tilewright/runtime/tensor.h"

namespace tilewright::dlpack {

struct Version {
  std::uint32_t major, minor;
};
inline constexpr Version kVersion{1, 1};

struct DeviceId {
  std::int32_t type;  // 1 cpu, 2 cuda, 3 pinned host, 13 cuda managed
  std::int32_t index;
};
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct TensorView {
  void* data;
  DeviceId device;
  std::int32_t rank;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: contiguous
  std::uint64_t byte_offset;
};
// DLManagedTensor, the form before 1.0.
struct ManagedTensor {
  TensorView tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};
// DLManagedTensorVersioned.
struct ManagedTensorVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
  std::uint64_t flags;
  TensorView tensor;
};
inline constexpr std::uint64_t kReadOnly = 1, kCopied = 2;

struct Imported {
  Tensor tensor;
  bool read_only = false;
  bool copied = false;
};

// Shares the memory. Takes `managed` over and calls its deleter once, when the last view of the
// tensor is gone. When it throws, `managed` is still the caller's: Unsupported for a dtype, rank,
// device or version, InvalidArgument for a broken structure, NotFound for an absent GPU.
Imported from_dlpack(ManagedTensorVersioned* managed);
Imported from_dlpack(ManagedTensor* managed);

// Shares the memory, which lives until the receiver calls the deleter. Block dtypes throw
// Unsupported. The older form has no flags, so it cannot say that memory is read-only.
ManagedTensorVersioned* to_dlpack(const Tensor& tensor, bool read_only = false);
ManagedTensor* to_dlpack_unversioned(const Tensor& tensor);

}  // namespace tilewright::dlpack
