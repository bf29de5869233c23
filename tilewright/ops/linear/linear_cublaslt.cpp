// SPDX-License-Identifier: Apache-2.0
// The part of cuBLASLt's C interface that is used here, declared by ourselves, since neither its
// header nor the library need be there. Source: NVIDIA, cuBLAS documentation, cublasLt.
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "tilewright/base/error.h"
#include "tilewright/ops/linear/linear_cuda_internal.h"
#include "tilewright/runtime/cuda/context.h"
#include "tilewright/runtime/jit/kernel.h"
#include "tilewright/runtime/library.h"
#include "tilewright/runtime/memory.h"

namespace tilewright {

namespace {

using Handle = void*;
using Descriptor = void*;  // of a product, a layout or a preference
using Status = int;

constexpr Status kOk = 0;
constexpr int kCompute32F = 68;
constexpr int kReal32F = 0, kReal16F = 2, kReal16Bf = 14;  // cudaDataType
constexpr int kTransposeA = 3, kTranspose = 1;
constexpr int kPreferWorkspace = 1;
constexpr std::size_t kWorkspace = std::size_t(32) << 20;

struct Algorithm {
  std::uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Heuristic) == 96);

// TW_LT(return, name, parameters)
#define TW_LT_FUNCTIONS(TW_LT)                                                                    \
  TW_LT(cublasLtCreate, Handle*)                                                                  \
  TW_LT(cublasLtMatmulDescCreate, Descriptor*, int, int)                                          \
  TW_LT(cublasLtMatmulDescDestroy, Descriptor)                                                    \
  TW_LT(cublasLtMatmulDescSetAttribute, Descriptor, int, const void*, std::size_t)                \
  TW_LT(cublasLtMatrixLayoutCreate, Descriptor*, int, std::uint64_t, std::uint64_t, std::int64_t) \
  TW_LT(cublasLtMatrixLayoutDestroy, Descriptor)                                                  \
  TW_LT(cublasLtMatmulPreferenceCreate, Descriptor*)                                              \
  TW_LT(cublasLtMatmulPreferenceDestroy, Descriptor)                                              \
  TW_LT(cublasLtMatmulPreferenceSetAttribute, Descriptor, int, const void*, std::size_t)          \
  TW_LT(cublasLtMatmulAlgoGetHeuristic, Handle, Descriptor, Descriptor, Descriptor, Descriptor,   \
        Descriptor, Descriptor, int, Heuristic*, int*)                                            \
  TW_LT(cublasLtMatmul, Handle, Descriptor, const void*, const void*, Descriptor, const void*,    \
        Descriptor, const void*, const void*, Descriptor, void*, Descriptor, const Algorithm*,    \
        void*, std::size_t, void*)

struct Library {
#define TW_LT_DECLARE(name, ...) Status (*name)(__VA_ARGS__) = nullptr;
  TW_LT_FUNCTIONS(TW_LT_DECLARE)
#undef TW_LT_DECLARE
  bool loaded = false;
};

const Library& library() {
  static const Library loaded = [] {
    Library result;
    if (!library_status(LibraryId::kCublasLt).loaded) return result;
    try {
#define TW_LT_LOAD(name, ...) \
  result.name =               \
      reinterpret_cast<Status (*)(__VA_ARGS__)>(library_symbol(LibraryId::kCublasLt, #name));
      TW_LT_FUNCTIONS(TW_LT_LOAD)
#undef TW_LT_LOAD
      result.loaded = true;
    } catch (const LibraryError&) {
      result = {};
    }
    return result;
  }();
  return loaded;
}

void check_status(Status status, const char* call) {
  TW_CHECK(status == kOk, Device, "linear: ", call, " failed with status ", status,
           "; TW_LAUNCH_BLOCKING=1 tells whether an earlier kernel is the cause");
}

int data_type(DType dtype) {
  return dtype == DType::f32 ? kReal32F : dtype == DType::f16 ? kReal16F : kReal16Bf;
}

// In the library's words, which are column-major: D (n x m) = W^T (k x n) * X (k x m) + beta * C.
// What a plan depends on: it is kept for the life of the process.
using Problem =
    std::tuple<int, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
               std::int64_t, std::int64_t, DType, DType, int, std::size_t>;

struct Plan {
  Descriptor product = nullptr, w = nullptr, x = nullptr, c = nullptr, d = nullptr;
  Heuristic choice{};
  bool usable = false;
};

std::int64_t leading(std::int64_t stride, std::int64_t rows, std::int64_t extent) {
  return rows > 1 ? stride : extent;  // a single row has no stride
}

Descriptor layout(DType dtype, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  Descriptor result = nullptr;
  check_status(library().cublasLtMatrixLayoutCreate(&result, data_type(dtype), std::uint64_t(rows),
                                                    std::uint64_t(cols), stride),
               "cublasLtMatrixLayoutCreate");
  return result;
}

// The largest power of two up to 256 that divides every address.
int alignment(const LibraryProduct& p) {
  const auto bits = reinterpret_cast<std::uintptr_t>(p.x) | reinterpret_cast<std::uintptr_t>(p.w) |
                    reinterpret_cast<std::uintptr_t>(p.c) | reinterpret_cast<std::uintptr_t>(p.d);
  int result = 1;
  while (result < 256 && bits % std::uintptr_t(2 * result) == 0) result *= 2;
  return result;
}

void choose(Plan& plan, Handle handle, int align, std::size_t workspace) {
  Descriptor preference = nullptr;
  check_status(library().cublasLtMatmulPreferenceCreate(&preference),
               "cublasLtMatmulPreferenceCreate");
  library().cublasLtMatmulPreferenceSetAttribute(preference, kPreferWorkspace, &workspace,
                                                 sizeof workspace);
  const std::uint32_t bytes = std::uint32_t(align);
  for (int attribute = 5; attribute <= 8; ++attribute) {  // least alignment of A, B, C, D
    library().cublasLtMatmulPreferenceSetAttribute(preference, attribute, &bytes, sizeof bytes);
  }
  int found = 0;
  const Status status = library().cublasLtMatmulAlgoGetHeuristic(
      handle, plan.product, plan.w, plan.x, plan.c, plan.d, preference, 1, &plan.choice, &found);
  library().cublasLtMatmulPreferenceDestroy(preference);
  plan.usable = status == kOk && found > 0 && plan.choice.state == kOk;
}

Plan make_plan(const LibraryProduct& p, Handle handle, std::size_t workspace) {
  Plan plan;
  check_status(library().cublasLtMatmulDescCreate(&plan.product, kCompute32F, kReal32F),
               "cublasLtMatmulDescCreate");
  check_status(library().cublasLtMatmulDescSetAttribute(plan.product, kTransposeA, &kTranspose,
                                                        sizeof kTranspose),
               "cublasLtMatmulDescSetAttribute");
  plan.w = layout(p.in, p.k, p.n, leading(p.w_stride, p.n, p.k));
  plan.x = layout(p.in, p.k, p.m, leading(p.x_stride, p.m, p.k));
  plan.c = layout(p.out, p.n, p.m, leading(p.c_stride, p.m, p.n));
  plan.d = layout(p.out, p.n, p.m, leading(p.d_stride, p.m, p.n));
  choose(plan, handle, alignment(p), workspace);
  return plan;
}

struct Plans {
  std::mutex mutex;
  std::map<int, Handle> handles;  // one a device
  std::map<Problem, Plan> plans;
  std::map<std::pair<int, void*>, Buffer> workspaces;  // one a stream
};

Plans& plans() {
  static Plans* const kept = new Plans;  // outlives the driver's own teardown
  return *kept;
}

// References to map entries stay valid.
std::pair<Handle, const Plan*> find_plan(const LibraryProduct& p, int device,
                                         std::size_t workspace) {
  Plans& all = plans();
  const std::lock_guard lock(all.mutex);
  Handle& handle = all.handles[device];
  if (handle == nullptr) {
    check_status(library().cublasLtCreate(&handle), "cublasLtCreate");
  }
  const Problem key{device,     p.m,        p.n,  p.k,   p.x_stride,   p.w_stride,
                    p.c_stride, p.d_stride, p.in, p.out, alignment(p), workspace};
  const auto found = all.plans.find(key);
  if (found != all.plans.end()) return {handle, &found->second};
  return {handle, &all.plans.emplace(key, make_plan(p, handle, workspace)).first->second};
}

// Kept, so that a product that ran once can be captured.
Buffer workspace_of(const Stream& stream) {
  Plans& all = plans();
  const std::lock_guard lock(all.mutex);
  Buffer& workspace = all.workspaces[{stream.device().index, stream.native()}];
  if (!workspace) workspace = Buffer::allocate(stream, kWorkspace);
  return workspace;
}

bool supported(DType in, DType out) {
  if (in == DType::f32) return out == DType::f32;
  return out == in || out == DType::f32;
}

}  // namespace

bool library_ready() { return !collecting_kernels() && library().loaded; }

bool library_product(const LibraryProduct& p, const Stream& stream) {
  if (!supported(p.in, p.out) || !library_ready()) return false;
  const cuda::ContextScope scope(cuda::primary_context(stream.device().index));
  // Nothing may be allocated inside a capture, so an algorithm without a workspace runs there.
  const std::size_t most = stream.capturing() ? 0 : kWorkspace;
  const auto [handle, plan] = find_plan(p, stream.device().index, most);
  if (!plan->usable) return false;
  const Buffer workspace = workspace_of(stream);
  const float alpha = 1.0f;
  check_status(
      library().cublasLtMatmul(handle, plan->product, &alpha, p.w, plan->w, p.x, plan->x, &p.beta,
                               p.c, plan->c, p.d, plan->d, &plan->choice.algorithm,
                               workspace.data(), plan->choice.workspace, stream.native()),
      "cublasLtMatmul");
  return true;
}

}  // namespace tilewright
