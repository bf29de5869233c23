// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/cuda/driver.h"

#include <array>
#include <atomic>
#include <string>

#include "tilewright/base/error.h"
#include "tilewright/runtime/library.h"

namespace tilewright::cuda {
namespace {

using GetProcAddress = Result (*)(const char*, void**, int, std::uint64_t, int*);

// The interface of CUDA 12.0 is enough; newer optional functions are asked for by their version.
constexpr int kInterfaceVersion = 12000, kOptionalVersion = 12040;

Driver load_driver() {
  Driver result;
  reinterpret_cast<Result (*)(int*)>(library_symbol(LibraryId::kCuda, "cuDriverGetVersion"))(
      &result.version);
  const LibraryStatus& status = library_status(LibraryId::kCuda);
  TW_CHECK(result.version >= kInterfaceVersion, Library, "the CUDA driver at ", status.path,
           " is for CUDA ", status.version, "; wants 12.0 or later: update the NVIDIA driver");
  const auto get =
      reinterpret_cast<GetProcAddress>(library_symbol(LibraryId::kCuda, "cuGetProcAddress_v2"));
  const auto find = [&](const char* name, int version) {
    void* function = nullptr;
    int found = 0;
    return get(name, &function, version, 0, &found) == kSuccess ? function : nullptr;
  };
#define TW_REQUIRED(name, ...)                                                                    \
  result.name = reinterpret_cast<decltype(result.name)>(find(#name, kInterfaceVersion));          \
  TW_CHECK(result.name != nullptr, Library, "the CUDA driver at ", status.path, " lacks ", #name, \
           "; update the NVIDIA driver");
#define TW_OPTIONAL(name, ...) \
  result.name = reinterpret_cast<decltype(result.name)>(find(#name, kOptionalVersion));
  TW_DRIVER_FUNCTIONS(TW_REQUIRED, TW_OPTIONAL)
#undef TW_REQUIRED
#undef TW_OPTIONAL
  return result;
}

constexpr std::size_t kKept = 8;
std::array<std::atomic<const char*>, kKept> launched{};
std::atomic<std::uint64_t> launch_count{0};

std::string last_launches() {
  const std::uint64_t count = launch_count.load();
  std::string names;
  for (std::uint64_t i = count > kKept ? count - kKept : 0; i < count; ++i) {
    const char* name = launched[i % kKept].load();
    if (name != nullptr) names += str(names.empty() ? "" : ", ", name);
  }
  return names;
}

// Faults of a kernel surface in whatever call comes next.
bool is_kernel_fault(Result result) { return result >= 700 && result < 720; }

std::string remedy(Result result) {
  if (is_kernel_fault(result)) {
    const std::string names = last_launches();
    return str("a kernel failed; last launched, newest last: ", names.empty() ? "none" : names,
               ". TW_LAUNCH_BLOCKING=1 names the exact one. This process cannot use the GPU again");
  }
  switch (result) {
    case kErrorOutOfMemory: return "free memory on the GPU, or use smaller tensors";
    case kErrorNoDevice: return "no GPU is visible: check nvidia-smi and CUDA_VISIBLE_DEVICES";
    case 4: return "the driver is shutting down: nothing may be launched from exit handlers";
    case 46: return "another process holds the GPU exclusively, or it is in a bad state";
    case 101: return "the GPU's number is out of range: see `tw info`";
    case 200:
    case 209:
      return "the compiled kernel does not fit this GPU: delete the kernel cache, see `tw doctor`";
    case 218:
    case 222: return "the driver is older than the compiler: update it, see `tw doctor`";
    case 802:
    case 803: return "driver and kernel module do not match: reboot, or reload the module";
    default: break;
  }
  if (result >= 900 && result <= 908)
    return "the call does not fit a graph capture: nothing may wait, allocate or leave the stream";
  return "see `tw doctor`";
}

}  // namespace

const Driver& driver() {
  static const Driver table = load_driver();
  return table;
}

void note_launch(const char* name) {
  launched[launch_count.fetch_add(1, std::memory_order_relaxed) % kKept].store(
      name, std::memory_order_relaxed);
}

void check(Result result, const char* call, int device) {
  if (result == kSuccess) return;
  const char* name = nullptr;
  const char* meaning = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &meaning);
  const std::string where = device < 0 ? "" : str("cuda:", device, ": ");
  const std::string function = std::string(call).substr(0, std::string(call).find('('));
  const std::string text = str(where, function, " failed: ", name ? name : "unknown error", " (",
                               result, ", ", meaning ? meaning : "", "); ", remedy(result));
  throw_error(result == kErrorOutOfMemory ? ErrorKind::kOutOfMemory : ErrorKind::kDevice, text,
              call);
}

}  // namespace tilewright::cuda
