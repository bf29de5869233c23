// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/loader.h"

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "tilewright/base/error.h"
#include "tilewright/base/hash.h"
#include "tilewright/runtime/cuda/context.h"

namespace tilewright::jit {
namespace {

void forbid_loading(const std::string& name, const Stream& stream) {
  TW_CHECK(!stream.capturing(), InvalidArgument, "kernel ", name, " is not loaded on ",
           stream.device(), " and cannot be while a graph is captured; run it once before");
  if (RealTimeScope::active()) RealTimeScope::forbid(str("loading kernel ", name).c_str());
}

int attribute(const LoadedKernel& kernel, cuda::FunctionAttribute which) {
  int value = 0;
  TW_CU(kernel.device, cuFuncGetAttribute(&value, which, kernel.function));
  return value;
}

// All the shared memory that the device has may be asked for at launch.
void open_shared_memory(LoadedKernel& kernel, std::size_t available) {
  kernel.static_shared = attribute(kernel, cuda::kFunctionStaticShared);
  kernel.max_threads = attribute(kernel, cuda::kFunctionMaxThreads);
  kernel.max_dynamic_shared = int(available) - kernel.static_shared;
  if (kernel.max_dynamic_shared <= 0) return;
  TW_CU(kernel.device, cuFuncSetAttribute(kernel.function, cuda::kFunctionDynamicShared,
                                          kernel.max_dynamic_shared));
}

std::unique_ptr<LoadedKernel> load(const Unit& unit, const Stream& stream) {
  auto kernel = std::make_unique<LoadedKernel>();
  bool from_cache = false;
  const Compiled compiled = obtain(unit, &from_cache);
  kernel->name = unit.spec.expression;
  kernel->lowered_name = compiled.lowered_name;
  kernel->device = stream.device().index;
  kernel->report = report_of(unit.spec, compiled, from_cache);
  kernel->context = cuda::primary_context(kernel->device);
  const cuda::ContextScope scope(kernel->context);
  cuda::Module module = nullptr;
  TW_CU(kernel->device, cuModuleLoadData(&module, compiled.cubin.data()));
  TW_CU(kernel->device,
        cuModuleGetFunction(&kernel->function, module, compiled.lowered_name.c_str()));
  open_shared_memory(*kernel, properties(stream.device()).shared_bytes_per_block);
  return kernel;
}

class Registry {
 public:
  // One thread loads; others that want the same kernel wait for it, and only for it.
  LoadedKernel& find_or_load(const Unit& unit, const Stream& stream) {
    std::string key = str(unit.key, "@", stream.device().index);
    Slot* slot = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (!unit.cacheable) key += str("#", ++uncacheable_);  // what it read may have changed
      auto& place = slots_[key];
      if (!place) place = std::make_unique<Slot>();
      slot = place.get();
    }
    const std::lock_guard lock(slot->mutex);
    if (!slot->kernel) {
      forbid_loading(unit.spec.expression, stream);
      slot->kernel = load(unit, stream);
    }
    return *slot->kernel;
  }

 private:
  struct Slot {
    std::mutex mutex;
    std::unique_ptr<LoadedKernel> kernel;
  };
  std::mutex mutex_;
  std::uint64_t uncacheable_ = 0;
  std::map<std::string, std::unique_ptr<Slot>> slots_;
};

Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

// Kernels of one device by spec. Lookups copy no string: launches are counted in microseconds.
struct SpecHash {
  std::size_t operator()(const KernelSpec& spec) const {
    return hash64(spec.expression, hash64(spec.file));
  }
};
using KnownKernels = std::unordered_map<KernelSpec, LoadedKernel*, SpecHash>;

}  // namespace

LoadedKernel& loaded_kernel(const Unit& unit, const Stream& stream) {
  return registry().find_or_load(unit, stream);
}

LoadedKernel& loaded_kernel(const KernelSpec& spec, const Stream& stream) {
  thread_local std::vector<KnownKernels> known_by_device;  // of this thread, so it takes no lock
  const auto index = std::size_t(stream.device().index);
  if (known_by_device.size() <= index) known_by_device.resize(index + 1);
  KnownKernels& known = known_by_device[index];
  if (const auto found = known.find(spec); found != known.end()) return *found->second;
  LoadedKernel& kernel =
      loaded_kernel(library_unit(spec, properties(stream.device()).arch), stream);
  known.emplace(spec, &kernel);
  return kernel;
}

}  // namespace tilewright::jit
