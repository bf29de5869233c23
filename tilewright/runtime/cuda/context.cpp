// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/cuda/context.h"

#include <array>
#include <mutex>
#include <string>

#include "tilewright/base/error.h"
#include "tilewright/runtime/backend.h"
#include "tilewright/runtime/library.h"

namespace tilewright {
namespace cuda {
namespace {

struct Presence {
  int count = 0;
  std::string absence;
};

Presence find_gpus() {
  const LibraryStatus& status = library_status(LibraryId::kCuda);
  if (!status.loaded)
    return {0, str("no CUDA driver (", status.tried.empty() ? "" : status.tried.back(), ")")};
  try {
    const Driver& table = driver();
    Result result = table.cuInit(0);
    Presence found;
    if (result == kSuccess) result = table.cuDeviceGetCount(&found.count);
    if (result != kSuccess) {
      const char* name = nullptr;
      table.cuGetErrorName(result, &name);
      return {0, str("the driver reports ", name ? name : "an error", " (", result, ")")};
    }
    if (found.count == 0) found.absence = "the driver sees no GPU";
    return found;
  } catch (const Error& error) {
    return {0, error.what()};
  }
}

const Presence& presence() {
  static const Presence found = find_gpus();
  return found;
}

constexpr int kMaxDevices = 64;

}  // namespace

Context primary_context(int index) {
  static std::mutex mutex;
  static std::array<Context, kMaxDevices> contexts{};
  const std::lock_guard lock(mutex);
  Context& context = contexts.at(std::size_t(index));
  if (context == nullptr) {
    Ordinal device = 0;
    TW_CU(index, cuDeviceGet(&device, index));
    TW_CU(index, cuDevicePrimaryCtxRetain(&context, device));
  }
  return context;
}

}  // namespace cuda

namespace detail {

int cuda_device_count() noexcept { return cuda::presence().count; }
std::string cuda_absence() { return cuda::presence().absence; }

void* cuda_allocate_host(std::size_t bytes) noexcept {
  try {
    const cuda::ContextScope scope(cuda::primary_context(0));
    const cuda::OutsideCapture relaxed;
    constexpr unsigned kPortable = 1;  // page-locked for every context
    void* data = nullptr;
    return cuda::driver().cuMemHostAlloc(&data, bytes, kPortable) == cuda::kSuccess ? data
                                                                                    : nullptr;
  } catch (...) {
    return nullptr;
  }
}

void cuda_release_host(void* data) noexcept {
  try {
    const cuda::ContextScope scope(cuda::primary_context(0));
    const cuda::OutsideCapture relaxed;
    cuda::driver().cuMemFreeHost(data);
  } catch (...) {  // a dead context has released it
  }
}

}  // namespace detail
}  // namespace tilewright
