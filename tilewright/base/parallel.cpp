// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

// How long a worker spins for the next region before it sleeps: longer than the serial gaps of a
// decode step, shorter than a person notices as load.
constexpr int kSpins = 20'000;
constexpr int kMaxThreads = 1024;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

int default_threads() {
  const char* variable = std::getenv("TW_THREADS");
  if (const std::string text = variable == nullptr ? "" : variable; !text.empty()) {
    int wanted = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wanted);
    TW_CHECK(error == std::errc() && end == text.data() + text.size() && wanted >= 1 &&
                 wanted <= kMaxThreads,
             InvalidArgument, "TW_THREADS: got '", text, "'; takes 1 to ", kMaxThreads);
    return wanted;
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

struct Region {
  RangeFunction work;
  std::int64_t count, chunk;
  std::atomic<std::int64_t> next{0};
  std::atomic<int> inside{0};
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  std::mutex failure_mutex;

  void take_chunks() {
    while (true) {
      const std::int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= count || failed.load(std::memory_order_relaxed)) return;
      try {
        work(begin, std::min(count, begin + chunk));
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        failed = true;
      }
    }
  }
};

class Pool {
 public:
  static Pool& instance() {
    // Leaked: workers may outlive static destruction.
    static Pool* pool = new Pool;
    return *pool;
  }

  int threads() const { return threads_.load(); }
  void set_threads(int threads) { threads_ = std::clamp(threads, 1, kMaxThreads); }

  void run(std::int64_t count, std::int64_t grain, RangeFunction work) {
    const int threads = threads_.load();
    const std::int64_t chunk = chunk_size(count, grain, threads);
    if (threads == 1 || chunk >= count || busy_.exchange(true, std::memory_order_acquire)) {
      work(0, count);
      return;
    }
    grow(threads - 1);
    Region region{work, count, chunk, {}, {}, {}, {}, {}};
    open(&region, threads - 1);
    region.take_chunks();
    close(region);
    busy_.store(false, std::memory_order_release);
    if (region.failure) std::rethrow_exception(region.failure);
  }

 private:
  static std::int64_t chunk_size(std::int64_t count, std::int64_t grain, int threads) {
    const std::int64_t even = (count + threads - 1) / threads;
    const std::int64_t quarter = std::max<std::int64_t>((even + 3) / 4, 1);
    return std::max(std::max<std::int64_t>(grain, 1), std::min(even, quarter));
  }

  // A system that gives no more threads makes the work slower, not impossible.
  void grow(int workers) {
    while (workers_ < workers) {
      try {
        std::thread([this, index = workers_] { work_loop(index); }).detach();
      } catch (const std::system_error&) {
        return;
      }
      ++workers_;
    }
  }

  void open(Region* region, int workers) {
    allowed_.store(workers, std::memory_order_relaxed);
    region_.store(region, std::memory_order_seq_cst);
    generation_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) {
      const std::lock_guard lock(mutex_);
      wake_.notify_all();
    }
  }

  // After the pointer is withdrawn no worker enters; those inside are waited for.
  void close(Region& region) {
    region_.store(nullptr, std::memory_order_seq_cst);
    while (entering_.load(std::memory_order_seq_cst) != 0) relax();
    while (region.inside.load(std::memory_order_acquire) != 0) relax();
  }

  void work_loop(int index) {
    std::uint64_t seen = 0;
    while (true) {
      seen = wait_past(seen);
      if (index >= allowed_.load(std::memory_order_relaxed)) continue;
      entering_.fetch_add(1, std::memory_order_seq_cst);
      Region* region = region_.load(std::memory_order_seq_cst);
      if (region != nullptr) region->inside.fetch_add(1, std::memory_order_acq_rel);
      entering_.fetch_sub(1, std::memory_order_seq_cst);
      if (region == nullptr) continue;
      region->take_chunks();
      region->inside.fetch_sub(1, std::memory_order_release);
    }
  }

  std::uint64_t wait_past(std::uint64_t seen) {
    for (int spin = 0; spin < kSpins; ++spin) {
      const std::uint64_t now = generation_.load(std::memory_order_acquire);
      if (now != seen) return now;
      relax();
    }
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    wake_.wait(lock, [&] { return generation_.load(std::memory_order_seq_cst) != seen; });
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
    return generation_.load(std::memory_order_acquire);
  }

  std::atomic<int> threads_{default_threads()};
  std::atomic<bool> busy_{false};
  std::atomic<Region*> region_{nullptr};
  std::atomic<int> entering_{0};
  std::atomic<int> allowed_{0};
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  int workers_ = 0;  // started so far; guarded by busy_
};

}  // namespace

int thread_count() { return Pool::instance().threads(); }
void set_thread_count(int threads) { Pool::instance().set_threads(threads); }

void parallel_for(std::int64_t count, std::int64_t grain, RangeFunction work) {
  if (count <= 0) return;
  Pool::instance().run(count, grain, work);
}

}  // namespace tilewright
