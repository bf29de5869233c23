// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/dlpack.h"

#include <memory>
#include <optional>
#include <span>

#include "tilewright/base/error.h"

namespace tilewright::dlpack {
namespace {

static_assert(sizeof(TensorView) == 48 && sizeof(ManagedTensor) == 64 &&
              sizeof(ManagedTensorVersioned) == 80);

constexpr std::int32_t kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13;

struct Pair {
  DType ours;
  std::uint8_t code, bits;
};
// Codes: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool, 10 float8_e4m3fn, 12 float8_e5m2.
constexpr Pair kTypes[] = {{DType::f32, 2, 32},    {DType::f16, 2, 16},    {DType::bf16, 4, 16},
                           {DType::f8e4m3, 10, 8}, {DType::f8e5m2, 12, 8}, {DType::i8, 0, 8},
                           {DType::u8, 1, 8},      {DType::i32, 0, 32},    {DType::i64, 0, 64},
                           {DType::bool8, 6, 8}};

DType dtype_of(DataType type) {
  for (const Pair& pair : kTypes) {
    if (pair.code == type.code && pair.bits == type.bits && type.lanes == 1) return pair.ours;
  }
  TW_FAIL(Unsupported, "DLPack: dtype with code ", int(type.code), ", ", int(type.bits),
          " bits and ", type.lanes,
          " lanes; taken are f32, f16, bf16, f8e4m3, f8e5m2, i8, u8, i32, i64 and bool");
}

Device device_of(DeviceId id) {
  if (id.type == kCpu || id.type == kCudaHost) return Device::cpu();
  TW_CHECK(id.type == kCuda || id.type == kCudaManaged, Unsupported, "DLPack: device type ",
           id.type, "; taken are cpu (1), cuda (2), pinned host (3) and cuda managed (13)");
  const int count = device_count(DeviceKind::kCuda);
  TW_CHECK(id.index >= 0 && id.index < count, NotFound, "DLPack: the tensor is on cuda:", id.index,
           "; this process sees ", count, " GPU(s)");
  return Device::cuda(id.index);
}

Tensor wrap(const TensorView& view, std::shared_ptr<const void> owner) {
  TW_CHECK(view.rank >= 0 && view.rank <= kMaxRank, Unsupported, "DLPack: rank ", view.rank,
           "; at most ", kMaxRank, " axes are taken");
  TW_CHECK(view.rank == 0 || view.shape != nullptr, InvalidArgument, "DLPack: shape is null");
  const auto rank = std::size_t(view.rank);
  const Shape shape(std::span<const std::int64_t>(view.shape, rank));
  const Shape strides = view.strides == nullptr
                            ? contiguous_strides(shape)
                            : Shape(std::span<const std::int64_t>(view.strides, rank));
  const DType dtype = dtype_of(view.dtype);
  const Device device = device_of(view.device);
  TW_CHECK(view.data != nullptr || element_count(shape) == 0, InvalidArgument,
           "DLPack: data is null for shape ", shape);
  void* data = view.data == nullptr ? nullptr : static_cast<char*>(view.data) + view.byte_offset;
  TW_CHECK(reinterpret_cast<std::uintptr_t>(data) % std::size_t(info(dtype).bytes) == 0,
           InvalidArgument, "DLPack: the address of the ", dtype, " data is not aligned to ",
           info(dtype).bytes, " bytes; copy the array first");
  return Tensor::wrap(data, shape, strides, dtype, device, std::move(owner));
}

// Checks everything with nobody's ownership, then takes `managed` over.
template <class Managed>
Tensor take(Managed* managed) {
  wrap(managed->tensor, nullptr);
  std::shared_ptr<const void> owner(managed, [](Managed* taken) {
    if (taken->deleter != nullptr) taken->deleter(taken);
  });
  return wrap(managed->tensor, std::move(owner));
}

// What an exported structure points at.
template <class Managed>
struct Export {
  Managed managed{};
  Tensor tensor;
  std::int64_t shape[kMaxRank] = {}, strides[kMaxRank] = {};
};

DataType type_of(DType dtype) {
  for (const Pair& pair : kTypes) {
    if (pair.ours == dtype) return {pair.code, pair.bits, 1};
  }
  TW_FAIL(Unsupported, "DLPack: ", dtype, " has no name there; export its bytes as u8 instead");
}

template <class Managed>
Managed* give(const Tensor& tensor) {
  TW_CHECK(tensor.defined(), InvalidArgument, "DLPack: the tensor is undefined");
  auto result = std::make_unique<Export<Managed>>();
  result->tensor = tensor;
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    result->shape[axis] = tensor.size(axis);
    result->strides[axis] = tensor.stride(axis);
  }
  const Device device = tensor.device();
  const DeviceId id{device.is_cuda() ? kCuda : kCpu, device.index};
  result->managed.tensor = {
      tensor.data(), id, tensor.rank(), type_of(tensor.dtype()), result->shape, result->strides, 0};
  result->managed.context = result.get();
  result->managed.deleter = [](Managed* managed) {
    delete static_cast<Export<Managed>*>(managed->context);
  };
  return &result.release()->managed;
}

}  // namespace

Imported from_dlpack(ManagedTensorVersioned* managed) {
  TW_CHECK(managed != nullptr, InvalidArgument, "DLPack: null");
  TW_CHECK(managed->version.major == kVersion.major, Unsupported, "DLPack: version ",
           managed->version.major, ".", managed->version.minor, "; taken is ", kVersion.major,
           ".x");
  const std::uint64_t flags = managed->flags;
  return {take(managed), (flags & kReadOnly) != 0, (flags & kCopied) != 0};
}

Imported from_dlpack(ManagedTensor* managed) {
  TW_CHECK(managed != nullptr, InvalidArgument, "DLPack: null");
  return {take(managed), false, false};
}

ManagedTensorVersioned* to_dlpack(const Tensor& tensor, bool read_only) {
  auto* managed = give<ManagedTensorVersioned>(tensor);
  managed->version = kVersion;
  managed->flags = read_only ? kReadOnly : 0;
  return managed;
}

ManagedTensor* to_dlpack_unversioned(const Tensor& tensor) { return give<ManagedTensor>(tensor); }

}  // namespace tilewright::dlpack
