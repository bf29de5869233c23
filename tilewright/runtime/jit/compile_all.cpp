// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/compile_all.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"

namespace tilewright {
namespace jit {
namespace {

class Batch {
 public:
  Batch(const std::vector<KernelSpec>& specs, Arch arch, const CompileProgress& progress,
        const UnitCompiler& compiler)
      : specs_(specs),
        arch_(arch),
        progress_(progress),
        compiler_(compiler),
        results_(specs.size()) {}

  std::vector<BatchResult> run() {
    const std::size_t workers = std::min(specs_.size(), std::size_t(std::max(thread_count(), 1)));
    std::vector<std::thread> threads;
    try {
      for (std::size_t i = 1; i < workers; ++i) threads.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // no more threads to be had: fewer do
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(results_);
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < specs_.size() && !stop_; i = next_++) {
      try {
        BatchResult result{library_unit(specs_[i], arch_), {}, false};
        result.compiled = compiler_(result.unit, &result.from_cache);
        const std::lock_guard lock(mutex_);
        results_[i] = std::move(result);
        if (progress_) progress_(++done_, int(specs_.size()), specs_[i]);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        stop_ = true;
      }
    }
  }

  const std::vector<KernelSpec>& specs_;
  const Arch arch_;
  const CompileProgress& progress_;
  const UnitCompiler& compiler_;
  std::vector<BatchResult> results_;
  std::mutex mutex_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  int done_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

std::vector<BatchResult> compile_batch(const std::vector<KernelSpec>& specs, Arch arch,
                                       const CompileProgress& progress,
                                       const UnitCompiler& compiler) {
  RealTimeScope::forbid("compilation of kernels");
  std::vector<KernelSpec> distinct;
  for (const KernelSpec& spec : specs) {
    if (std::find(distinct.begin(), distinct.end(), spec) == distinct.end())
      distinct.push_back(spec);
  }
  return Batch(distinct, arch, progress, compiler).run();
}

}  // namespace jit

std::vector<KernelReport> compile_kernels(const std::vector<KernelSpec>& specs, Arch arch,
                                          const CompileProgress& progress) {
  std::vector<KernelReport> reports;
  for (const jit::BatchResult& result : jit::compile_batch(specs, arch, progress, jit::obtain))
    reports.push_back(jit::report_of(result.unit.spec, result.compiled, result.from_cache));
  return reports;
}

}  // namespace tilewright
