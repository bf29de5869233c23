// SPDX-License-Identifier: Apache-2.0
// Kernels compiled at run time. Ops name a kernel of this library by KernelSpec; a user's own
// source goes through Kernel::compile. Compiled code comes from memory, a pack, or the disk cache
// before NVRTC is asked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tilewright/runtime/stream.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

struct LaunchShape {
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;  // dynamic shared memory
  std::uint32_t cluster = 1;       // blocks of a cluster along x
  // Programmatic dependent launch: may start before the kernel before it has ended, so the kernel
  // executes griddepcontrol.wait before it touches that one's results.
  bool programmatic = false;
};

// A kernel of this library: the embedded file and the C++ name expression, such as
// {"tilewright/ops/rms_norm/rms_norm.cuh", "tilewright::rms_norm_rows<tilewright::bf16, 256>"}.
struct KernelSpec {
  std::string file;
  std::string expression;
  bool operator==(const KernelSpec&) const = default;
};

// Our kernels take one struct by value (const __grid_constant__ Args). Compiles on first use;
// throws InvalidArgument when that first use is inside a capture.
void launch_bytes(const KernelSpec& spec, const LaunchShape& shape, const Stream& stream,
                  const void* args, std::size_t bytes);
template <class Args>
void launch(const KernelSpec& spec, const LaunchShape& shape, const Stream& stream,
            const Args& args) {
  launch_bytes(spec, shape, stream, &args, sizeof(Args));
}

struct KernelReport {
  KernelSpec spec;
  int registers = 0, spill_bytes = 0, shared_bytes = 0, stack_bytes = 0;
  double compile_milliseconds = 0;
  bool from_cache = false;
};

// Calls `work` with this thread's launches recorded, not run, and returns the distinct kernels.
std::vector<KernelSpec> collect_kernels(const std::function<void()>& work);
bool collecting_kernels();
using CompileProgress = std::function<void(int done, int total, const KernelSpec& current)>;
// Compiles what no cache or pack holds, in parallel, and loads nothing. No GPU needed.
std::vector<KernelReport> compile_kernels(const std::vector<KernelSpec>& specs, Arch arch,
                                          const CompileProgress& progress = nullptr);

// --- a user's own kernels ---------------------------------------------------------------------

struct CompileOptions {
  std::vector<std::string> include_dirs;
  std::vector<std::string> options;  // passed to NVRTC, in order; none that includes
};

// One argument of a foreign kernel: a tensor passes its data pointer; scalars pass themselves.
using KernelArgument = std::variant<Tensor, std::int32_t, std::uint32_t, std::int64_t,
                                    std::uint64_t, float, double, bool>;

class Kernel {
 public:
  // Compiles CUDA C++ for the stream's device; `expression` is a name or a template instance.
  // Throws CompileError with the compiler's log.
  static Kernel compile(const std::string& source, const std::string& expression,
                        const Stream& stream, const CompileOptions& options = {});
  // Checks count, size, dtype, device and contiguity of every argument against the kernel's own
  // parameter list, then launches. Throws InvalidArgument naming kernel and argument.
  template <class... Values>
  void operator()(const LaunchShape& shape, const Stream& stream, const Values&... values) const {
    launch(shape, stream, {KernelArgument(values)...});
  }
  void launch(const LaunchShape& shape, const Stream& stream,
              const std::vector<KernelArgument>& arguments) const;
  KernelReport report() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tilewright
