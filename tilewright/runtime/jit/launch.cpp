// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "tilewright/base/error.h"
#include "tilewright/runtime/backend.h"
#include "tilewright/runtime/cuda/context.h"
#include "tilewright/runtime/jit/loader.h"

namespace tilewright {
namespace {

thread_local std::vector<KernelSpec>* collector = nullptr;

bool launches_block() {
  static const bool value = [] {
    const char* text = std::getenv("TW_LAUNCH_BLOCKING");
    return text != nullptr && std::string_view(text) == "1";
  }();
  return value;
}

std::string shape_text(const LaunchShape& shape) {
  const auto three = [](const Dim3& dim) { return str("(", dim.x, ", ", dim.y, ", ", dim.z, ")"); };
  std::string text = str("grid ", three(shape.grid), ", block ", three(shape.block), ", ",
                         shape.shared_bytes, " bytes of dynamic shared memory");
  if (shape.cluster > 1) text += str(", clusters of ", shape.cluster);
  return text;
}

void check_shape(const jit::LoadedKernel& kernel, const LaunchShape& shape) {
  const auto count = [](const Dim3& dim) { return std::uint64_t(dim.x) * dim.y * dim.z; };
  TW_CHECK(count(shape.grid) > 0 && count(shape.block) > 0 && shape.cluster > 0, InvalidArgument,
           "kernel ", kernel.name, ": empty launch: ", shape_text(shape));
  TW_CHECK(count(shape.block) <= std::uint64_t(kernel.max_threads), InvalidArgument, "kernel ",
           kernel.name, ": blocks have ", count(shape.block), " threads, the kernel takes at most ",
           kernel.max_threads);
  TW_CHECK(std::int64_t(shape.shared_bytes) <= kernel.max_dynamic_shared, InvalidArgument,
           "kernel ", kernel.name, ": ", shape.shared_bytes,
           " bytes of dynamic shared memory; this GPU has ", kernel.max_dynamic_shared,
           " for it beside the static ", kernel.static_shared);
  TW_CHECK(shape.grid.x % shape.cluster == 0, InvalidArgument, "kernel ", kernel.name, ": grid x ",
           shape.grid.x, " is no multiple of the cluster of ", shape.cluster);
}

// Attributes point into the array, so both live with the caller.
struct Launch {
  cuda::LaunchConfig config{};
  cuda::LaunchAttribute attributes[2] = {};
};

void fill_launch(Launch& launch, const LaunchShape& shape, const Stream& stream) {
  unsigned count = 0;
  if (shape.cluster > 1) {
    launch.attributes[count].id = cuda::kClusterDimension;
    launch.attributes[count++].value.cluster = {shape.cluster, 1, 1};
  }
  if (shape.programmatic) {
    launch.attributes[count].id = cuda::kProgrammaticSerialization;
    launch.attributes[count++].value.flag = 1;
  }
  launch.config = {shape.grid.x,       shape.grid.y,
                   shape.grid.z,       shape.block.x,
                   shape.block.y,      shape.block.z,
                   shape.shared_bytes, static_cast<cuda::StreamHandle>(stream.native()),
                   launch.attributes,  count};
}

void allow_wide_clusters(jit::LoadedKernel& kernel, const LaunchShape& shape) {
  constexpr std::uint32_t kPortable = 8;
  if (shape.cluster <= kPortable || kernel.wide_clusters.exchange(true)) return;
  TW_CU(kernel.device, cuFuncSetAttribute(kernel.function, cuda::kFunctionNonPortableCluster, 1));
}

// Asks the driver: a stream that joined a capture through an event does not know of it.
bool captures(cuda::StreamHandle stream) {
  int status = 0;
  return cuda::driver().cuStreamIsCapturing(stream, &status) == cuda::kSuccess && status != 0;
}

// Names the kernel besides what the driver says.
void check_launched(cuda::Result result, const char* call, const jit::LoadedKernel& kernel,
                    const LaunchShape& shape) {
  if (result == cuda::kSuccess) return;
  try {
    cuda::check(result, call, kernel.device);
  } catch (const Error& error) {
    throw_error(error.kind(),
                str("kernel ", kernel.name, " (", shape_text(shape), "): ", error.what()));
  }
}

}  // namespace

namespace jit {

void launch_loaded(LoadedKernel& kernel, const LaunchShape& shape, const Stream& stream,
                   void** parameters) {
  check_shape(kernel, shape);
  const cuda::ContextScope scope(kernel.context);
  allow_wide_clusters(kernel, shape);
  Launch launch;
  fill_launch(launch, shape, stream);
  cuda::note_launch(kernel.name.c_str());
  check_launched(
      cuda::driver().cuLaunchKernelEx(&launch.config, kernel.function, parameters, nullptr),
      "cuLaunchKernelEx", kernel, shape);
  if (launches_block() && !captures(launch.config.stream))
    check_launched(cuda::driver().cuStreamSynchronize(launch.config.stream), "cuStreamSynchronize",
                   kernel, shape);
}

}  // namespace jit

void launch_bytes(const KernelSpec& spec, const LaunchShape& shape, const Stream& stream,
                  const void* args, std::size_t) {
  if (collector != nullptr) {
    if (std::find(collector->begin(), collector->end(), spec) == collector->end())
      collector->push_back(spec);
    return;
  }
  TW_CHECK(stream.device().is_cuda(), Unsupported, "kernel ", spec.expression, " runs on a GPU; ",
           "the stream is on ", stream.device());
  void* parameters[] = {const_cast<void*>(args)};
  jit::launch_loaded(jit::loaded_kernel(spec, stream), shape, stream, parameters);
}

std::vector<KernelSpec> collect_kernels(const std::function<void()>& work) {
  std::vector<KernelSpec> specs;
  struct Restore {
    std::vector<KernelSpec>* before;
    ~Restore() { collector = before; }
  } const restore{collector};
  collector = &specs;
  work();
  return specs;
}

bool collecting_kernels() { return collector != nullptr; }

}  // namespace tilewright
