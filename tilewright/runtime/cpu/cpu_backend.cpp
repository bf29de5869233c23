// SPDX-License-Identifier: Apache-2.0
// The cpu device: work runs at once in the calling thread, or is recorded by a capture.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/runtime/backend.h"
#include "tilewright/runtime/cpu/strided_copy.h"

namespace tilewright::detail {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::int64_t kCopyGrain = 1 << 20;  // bytes worth a thread

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "cpu";
}

DeviceProperties read_properties() {
  DeviceProperties result;
  result.name = processor_name();
  result.threads = thread_count();
  const auto positive = [](long value) { return std::size_t(std::max(value, 0L)); };
  result.memory_bytes = positive(::sysconf(_SC_PHYS_PAGES)) * positive(::sysconf(_SC_PAGESIZE));
  result.l2_bytes = positive(::sysconf(_SC_LEVEL2_CACHE_SIZE));
  return result;
}

class CpuGraph final : public CapturedGraph {
 public:
  explicit CpuGraph(std::vector<std::function<void()>> calls) : calls_(std::move(calls)) {}
  void instantiate() override {}
  bool update(CapturedGraph& fresh) override {
    auto& other = static_cast<CpuGraph&>(fresh);
    if (other.calls_.size() != calls_.size()) return false;
    calls_ = std::move(other.calls_);
    return true;
  }
  void replay(StreamState&) override {
    for (const auto& call : calls_) call();
  }
  int node_count() const override { return int(calls_.size()); }

 private:
  std::vector<std::function<void()>> calls_;
};

// Runs now, or is kept for the replays.
template <class Work>
void submit(StreamState& stream, Work work) {
  if (stream.capturing)
    stream.recorded.emplace_back(std::move(work));
  else
    work();
}

class CpuBackend final : public Backend {
 public:
  const DeviceProperties& properties() const override { return properties_; }

  void* create_stream() override { return nullptr; }
  void destroy_stream(void*) noexcept override {}
  void synchronize(StreamState&) override {}
  void wait(StreamState&, const EventState&) override {}

  void* create_event(bool) override { return nullptr; }
  void destroy_event(void*) noexcept override {}
  void record(const std::shared_ptr<EventState>& event, StreamState& stream) override {
    submit(stream, [event] { event->time = std::chrono::steady_clock::now(); });
  }
  void synchronize(const EventState&) override {}
  bool query(const EventState&) override { return true; }
  double microseconds(const EventState& start, const EventState& end) override {
    return std::chrono::duration<double, std::micro>(end.time - start.time).count();
  }

  void* allocate(std::size_t bytes, StreamState&) override {
    if (bytes > SIZE_MAX - kAlignment) return nullptr;
    return std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  }
  void release(void* data, StreamState&) noexcept override { std::free(data); }
  std::size_t reserved_bytes() override { return pool.statistics().in_use; }
  void trim(std::size_t keep) override { ::malloc_trim(keep); }

  void copy(void* to, const void* from, std::size_t bytes, StreamState& stream) override {
    // Pieces of an overlapping copy would read what others have written: it stays whole.
    const auto first = reinterpret_cast<std::uintptr_t>(to),
               second = reinterpret_cast<std::uintptr_t>(from);
    const bool overlaps = std::max(first, second) - std::min(first, second) < bytes;
    const std::int64_t grain = overlaps ? std::int64_t(bytes) : kCopyGrain;
    submit(stream, [=] {
      parallel_for(std::int64_t(bytes), grain, [=](std::int64_t begin, std::int64_t end) {
        std::memmove(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                     std::size_t(end - begin));
      });
    });
  }
  void copy_rows(const RowCopy& rows, StreamState& stream) override {
    submit(stream, [rows] { copy_rows_on_cpu(rows); });
  }
  void copy_strided(const StridedCopy& copy, const Stream& stream) override {
    submit(*stream.state(), [copy] { copy_strided_on_cpu(copy); });
  }
  void fill(void* data, int value, std::size_t bytes, StreamState& stream) override {
    submit(stream, [=] { std::memset(data, value, bytes); });
  }

  void begin_capture(StreamState& stream) override { stream.recorded.clear(); }
  std::unique_ptr<CapturedGraph> end_capture(StreamState& stream) override {
    return std::make_unique<CpuGraph>(std::exchange(stream.recorded, {}));
  }
  void abort_capture(StreamState& stream) noexcept override { stream.recorded.clear(); }

 private:
  const DeviceProperties properties_ = read_properties();
};

}  // namespace

Backend& cpu_backend() {
  static auto* instance = new CpuBackend;  // outlives buffers of static lifetime
  return *instance;
}

}  // namespace tilewright::detail
