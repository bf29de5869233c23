// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/base/dtype.h"
#include "tilewright/base/error.h"
#include "tilewright/device/core/types.h"

namespace tilewright {

template <class T>
struct TypeTag {
  using type = T;
};

// Calls work(TypeTag<T>) with the C++ type of f32, f16 or bf16:
//   dispatch_float(dtype, [&](auto tag) { using T = typename decltype(tag)::type; … });
template <class Work>
void dispatch_float(DType dtype, const Work& work) {
  switch (dtype) {
    case DType::f32: return work(TypeTag<float>{});
    case DType::f16: return work(TypeTag<half>{});
    case DType::bf16: return work(TypeTag<bf16>{});
    default: TW_FAIL(Internal, "dispatch_float: got ", name(dtype), "; takes f32, f16, bf16");
  }
}

}  // namespace tilewright
