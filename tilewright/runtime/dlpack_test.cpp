// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/dlpack.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright::dlpack {
namespace {

// The layout that other libraries were compiled with, on 64-bit machines.
static_assert(offsetof(TensorView, device) == 8 && offsetof(TensorView, dtype) == 20 &&
              offsetof(TensorView, strides) == 32 && offsetof(TensorView, byte_offset) == 40);
static_assert(offsetof(ManagedTensor, deleter) == 56);
static_assert(offsetof(ManagedTensorVersioned, flags) == 24 &&
              offsetof(ManagedTensorVersioned, tensor) == 32);

// A producer of another library that counts how often it is told to let go.
template <class Managed>
struct Producer {
  std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7};
  std::int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
  int deleted = 0;
  Managed managed{};

  Producer() {
    managed.tensor = {values.data(), {1, 0}, 2, {2, 32, 1}, shape, strides, 0};
    managed.context = this;
    managed.deleter = [](Managed* self) { ++static_cast<Producer*>(self->context)->deleted; };
    if constexpr (requires { managed.version; }) managed.version = {1, 0};
  }
};
using New = Producer<ManagedTensorVersioned>;
using Old = Producer<ManagedTensor>;

TEST(DlpackImport, SharesMemoryAndLetsGoOnce) {
  New producer;
  {
    const Imported got = from_dlpack(&producer.managed);
    EXPECT_EQ(got.tensor.data(), producer.values.data());
    EXPECT_EQ(got.tensor.describe(), "f32 [2, 3] on cpu");
    EXPECT_FALSE(got.read_only);
    const Tensor view = got.tensor.select(0, 1);
    EXPECT_EQ(view.data_as<float>()[0], 3.0f);
    EXPECT_EQ(producer.deleted, 0);
  }
  EXPECT_EQ(producer.deleted, 1);
}

TEST(DlpackImport, ReadsTheFormBeforeVersions) {
  Old producer;
  from_dlpack(&producer.managed);
  EXPECT_EQ(producer.deleted, 1);
  producer.managed.deleter = nullptr;  // allowed: nothing to let go
  EXPECT_NO_THROW(from_dlpack(&producer.managed));
}

TEST(DlpackImport, NullStridesOffsetsFlagsAndNegativeStrides) {
  New producer;
  producer.managed.tensor.strides = nullptr;
  producer.managed.tensor.byte_offset = 8;
  producer.managed.flags = kReadOnly | kCopied;
  const Imported got = from_dlpack(&producer.managed);
  EXPECT_TRUE(got.read_only);
  EXPECT_TRUE(got.copied);
  EXPECT_TRUE(got.tensor.contiguous());
  EXPECT_EQ(got.tensor.data_as<float>()[5], 7.0f);
  New reversed;
  reversed.managed.tensor.data = reversed.values.data() + 3;
  reversed.strides[0] = -3;
  EXPECT_EQ(from_dlpack(&reversed.managed).tensor.select(0, 1).data_as<float>()[0], 0.0f);
}

TEST(DlpackImport, WhatIsRefusedStaysTheCallers) {
  const auto refused = [](auto expected, auto change) {
    using Expected = decltype(expected);
    New producer;
    change(producer.managed);
    EXPECT_THROW(from_dlpack(&producer.managed), typename Expected::type);
    EXPECT_EQ(producer.deleted, 0);
  };
  constexpr std::type_identity<Unsupported> unsupported;
  constexpr std::type_identity<InvalidArgument> invalid;
  constexpr std::type_identity<NotFound> absent;
  refused(unsupported, [](auto& m) { m.version.major = 2; });
  refused(unsupported, [](auto& m) { m.tensor.dtype.lanes = 4; });
  refused(unsupported, [](auto& m) { m.tensor.dtype.bits = 64; });
  refused(unsupported, [](auto& m) { m.tensor.dtype.code = 5; });
  refused(unsupported, [](auto& m) { m.tensor.device.type = 10; });
  refused(unsupported, [](auto& m) { m.tensor.rank = kMaxRank + 1; });
  refused(unsupported, [](auto& m) { m.tensor.rank = -1; });
  refused(invalid, [](auto& m) { m.tensor.data = nullptr; });
  refused(invalid, [](auto& m) { m.tensor.shape = nullptr; });
  refused(invalid, [](auto& m) { m.tensor.byte_offset = 2; });
  refused(invalid, [](auto& m) { m.tensor.shape[0] = -1; });
  refused(absent, [](auto& m) { m.tensor.device = {2, 1000}; });
  EXPECT_THROW(from_dlpack(static_cast<ManagedTensor*>(nullptr)), InvalidArgument);
}

TEST(DlpackExport, KeepsTheMemoryUntilTheReceiverLetsGo) {
  const Stream stream(Device::cpu());
  const std::size_t before = pool_statistics(Device::cpu()).in_use;
  Tensor tensor = Tensor::zeros({4, 6}, DType::bf16, stream);
  ManagedTensorVersioned* managed = to_dlpack(tensor.transpose(0, 1).slice(0, 1, 5), true);
  EXPECT_EQ(managed->tensor.data, static_cast<char*>(tensor.data()) + 2);
  EXPECT_EQ(managed->tensor.shape[0], 4);
  EXPECT_EQ(managed->tensor.strides[1], 6);
  EXPECT_EQ(managed->tensor.dtype.code, 4);
  EXPECT_EQ(managed->flags, kReadOnly);
  EXPECT_EQ(managed->version.major, 1u);
  tensor = Tensor();
  EXPECT_EQ(pool_statistics(Device::cpu()).in_use, before + 48);
  managed->deleter(managed);
  EXPECT_EQ(pool_statistics(Device::cpu()).in_use, before);
}

TEST(DlpackExport, EveryPlainDtypeComesBack) {
  const Stream stream(Device::cpu());
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2,
                            DType::i8, DType::u8, DType::i32, DType::i64, DType::bool8}) {
    const Tensor tensor = Tensor::zeros({3, 0, 2}, dtype, stream);
    const Imported back = from_dlpack(to_dlpack_unversioned(tensor));
    EXPECT_EQ(back.tensor.dtype(), dtype);
    EXPECT_EQ(back.tensor.shape(), tensor.shape());
  }
  EXPECT_THROW(to_dlpack(Tensor::zeros({32}, DType::q8_0, stream)), Unsupported);
  EXPECT_THROW(to_dlpack(Tensor()), InvalidArgument);
}

}  // namespace
}  // namespace tilewright::dlpack
