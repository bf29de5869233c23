// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/error.h"
#include "tilewright/runtime/cuda/context.h"
#include "tilewright/runtime/jit/loader.h"
#include "tilewright/runtime/jit/signature.h"

namespace tilewright {
namespace {

// Sizes by the driver (12.4 and later), types by the mangled name; both where both are known.
jit::Signature read_signature(const jit::LoadedKernel& kernel) {
  jit::Signature signature{kernel.name, std::nullopt};
  if (const auto types = jit::parameter_types(kernel.lowered_name)) {
    signature.parameters.emplace();
    for (const std::string& type : *types) signature.parameters->push_back({type, 0});
  }
  const auto query = cuda::driver().cuFuncGetParamInfo;
  if (query == nullptr) return signature;
  std::vector<std::size_t> sizes;
  std::size_t offset = 0, bytes = 0;
  while (query(kernel.function, sizes.size(), &offset, &bytes) == cuda::kSuccess)
    sizes.push_back(bytes);
  if (signature.parameters && signature.parameters->size() != sizes.size()) return signature;
  if (!signature.parameters) signature.parameters.emplace(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) (*signature.parameters)[i].bytes = sizes[i];
  return signature;
}

}  // namespace

struct Kernel::State {
  jit::LoadedKernel* kernel;
  jit::Signature signature;
};

Kernel Kernel::compile(const std::string& source, const std::string& expression,
                       const Stream& stream, const CompileOptions& options) {
  TW_CHECK(stream.device().is_cuda(), Unsupported, "Kernel::compile: kernel ", expression,
           " needs a GPU; the stream is on ", stream.device());
  RealTimeScope::forbid("compilation of a kernel");
  const jit::Unit unit =
      jit::user_unit(source, expression, properties(stream.device()).arch, options);
  Kernel result;
  jit::LoadedKernel& kernel = jit::loaded_kernel(unit, stream);
  const cuda::ContextScope scope(kernel.context);
  result.state_ = std::make_shared<State>(State{&kernel, read_signature(kernel)});
  return result;
}

void Kernel::launch(const LaunchShape& shape, const Stream& stream,
                    const std::vector<KernelArgument>& arguments) const {
  TW_CHECK(state_ != nullptr, InvalidArgument, "Kernel::launch: nothing was compiled");
  const Device device = Device::cuda(state_->kernel->device);
  TW_CHECK(stream.device() == device, InvalidArgument, "kernel ", state_->kernel->name,
           ": compiled for ", device, ", and the stream is on ", stream.device());
  jit::PackedArguments packed = jit::pack_arguments(state_->signature, device, arguments);
  std::vector<void*> parameters;
  for (std::uint64_t& value : packed.values) parameters.push_back(&value);
  jit::launch_loaded(*state_->kernel, shape, stream, parameters.data());
}

KernelReport Kernel::report() const {
  TW_CHECK(state_ != nullptr, InvalidArgument, "Kernel::report: nothing was compiled");
  return state_->kernel->report;
}

}  // namespace tilewright
