// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <mutex>

#include "tilewright/base/error.h"
#include "tilewright/runtime/backend.h"
#include "tilewright/runtime/cuda/context.h"
#include "tilewright/runtime/cuda/cuda_graph.h"
#include "tilewright/runtime/cuda/cuda_pool.h"

namespace tilewright::cuda {
namespace {

using detail::CapturedGraph;
using detail::EventState;
using detail::RowCopy;
using detail::StreamState;
using detail::StridedCopy;

StreamHandle native(const StreamState& stream) { return static_cast<StreamHandle>(stream.native); }
EventHandle native(const EventState& event) { return static_cast<EventHandle>(event.native); }
Pointer address(const void* data) { return reinterpret_cast<Pointer>(data); }

Ordinal ordinal_of(int index) {
  Ordinal device = 0;
  TW_CU(index, cuDeviceGet(&device, index));
  return device;
}

DeviceProperties read_properties(int index, Ordinal device) {
  const auto attribute = [&](DeviceAttribute which) {
    int value = 0;
    TW_CU(index, cuDeviceGetAttribute(&value, which, device));
    return value;
  };
  DeviceProperties result;
  char name[256] = {};
  TW_CU(index, cuDeviceGetName(name, sizeof(name) - 1, device));
  result.name = name;
  result.arch = {attribute(kComputeMajor), attribute(kComputeMinor), false};
  result.arch.specific = result.arch.major >= 9;
  result.multiprocessors = attribute(kMultiprocessors);
  TW_CU(index, cuDeviceTotalMem(&result.memory_bytes, device));
  result.l2_bytes = std::size_t(attribute(kL2Bytes));
  result.shared_bytes_per_block = std::size_t(attribute(kSharedOptin));
  return result;
}

class CudaBackend final : public detail::Backend {
 public:
  explicit CudaBackend(int index)
      : index_(index),
        ordinal_(ordinal_of(index)),
        properties_(read_properties(index, ordinal_)),
        context_(primary_context(index)),
        memory_(index, ordinal_) {}

  const DeviceProperties& properties() const override { return properties_; }

  void* create_stream() override {
    const ContextScope scope(context_);
    StreamHandle stream = nullptr;
    TW_CU(index_, cuStreamCreate(&stream, kStreamNonBlocking));
    return stream;
  }
  void destroy_stream(void* stream) noexcept override {
    driver().cuStreamDestroy(static_cast<StreamHandle>(stream));
  }
  void synchronize(StreamState& stream) override {
    const ContextScope scope(context_);
    TW_CU(index_, cuStreamSynchronize(native(stream)));
  }
  void wait(StreamState& stream, const EventState& event) override {
    const ContextScope scope(context_);
    TW_CU(index_, cuStreamWaitEvent(native(stream), native(event), 0));
  }

  void* create_event(bool timing) override {
    const ContextScope scope(context_);
    EventHandle event = nullptr;
    TW_CU(index_, cuEventCreate(&event, timing ? 0 : kEventDisableTiming));
    return event;
  }
  void destroy_event(void* event) noexcept override {
    driver().cuEventDestroy(static_cast<EventHandle>(event));
  }
  void record(const std::shared_ptr<EventState>& event, StreamState& stream) override {
    const ContextScope scope(context_);
    TW_CU(index_, cuEventRecord(native(*event), native(stream)));
  }
  void synchronize(const EventState& event) override {
    const ContextScope scope(context_);
    TW_CU(index_, cuEventSynchronize(native(event)));
  }
  bool query(const EventState& event) override {
    const ContextScope scope(context_);
    const OutsideCapture relaxed;
    const Result result = driver().cuEventQuery(native(event));
    if (result == kErrorNotReady) return false;
    check(result, "cuEventQuery", index_);
    return true;
  }
  double microseconds(const EventState& start, const EventState& end) override {
    const ContextScope scope(context_);
    float milliseconds = 0;
    TW_CU(index_, cuEventElapsedTime(&milliseconds, native(start), native(end)));
    return double(milliseconds) * 1000;
  }

  void* allocate(std::size_t bytes, StreamState& stream) override {
    const ContextScope scope(context_);
    return memory_.allocate(bytes, native(stream));
  }
  void release(void* data, StreamState& stream) noexcept override {
    try {
      const ContextScope scope(context_);
      memory_.release(data, native(stream));
    } catch (...) {  // the context is gone, and the memory with it
    }
  }
  std::size_t reserved_bytes() override { return memory_.reserved_bytes(); }
  void trim(std::size_t keep) override {
    const ContextScope scope(context_);
    memory_.trim(keep);
  }

  void copy(void* to, const void* from, std::size_t bytes, StreamState& stream) override {
    const ContextScope scope(context_);
    TW_CU(index_, cuMemcpyAsync(address(to), address(from), bytes, native(stream)));
  }
  void copy_rows(const RowCopy& rows, StreamState& stream) override {
    const ContextScope scope(context_);
    Memcpy2D parameters{};
    parameters.from_type = rows.from_host ? kMemoryHost : kMemoryDevice;
    parameters.from_host = rows.from_host ? rows.from : nullptr;
    parameters.from_device = rows.from_host ? 0 : address(rows.from);
    parameters.from_pitch = std::size_t(rows.from_pitch);
    parameters.to_type = rows.to_host ? kMemoryHost : kMemoryDevice;
    parameters.to_host = rows.to_host ? rows.to : nullptr;
    parameters.to_device = rows.to_host ? 0 : address(rows.to);
    parameters.to_pitch = std::size_t(rows.to_pitch);
    parameters.width = std::size_t(rows.width);
    parameters.height = std::size_t(rows.rows);
    TW_CU(index_, cuMemcpy2DAsync(&parameters, native(stream)));
  }
  void copy_strided(const StridedCopy& copy, const Stream& stream) override {
    detail::launch_strided_copy(copy, stream);
  }
  void fill(void* data, int value, std::size_t bytes, StreamState& stream) override {
    const ContextScope scope(context_);
    TW_CU(index_,
          cuMemsetD8Async(address(data), static_cast<unsigned char>(value), bytes, native(stream)));
  }
  void reach(Device peer) override {
    const ContextScope scope(context_);
    memory_.allow_access(ordinal_of(peer.index));
  }

  void begin_capture(StreamState& stream) override {
    const ContextScope scope(context_);
    TW_CU(index_, cuStreamBeginCapture(native(stream), kCaptureThreadLocal));
  }
  std::unique_ptr<CapturedGraph> end_capture(StreamState& stream) override {
    const ContextScope scope(context_);
    GraphHandle graph = nullptr;
    TW_CU(index_, cuStreamEndCapture(native(stream), &graph));
    return std::make_unique<CudaGraph>(index_, context_, graph);
  }
  void abort_capture(StreamState& stream) noexcept override {
    GraphHandle graph = nullptr;
    driver().cuStreamEndCapture(native(stream), &graph);
    if (graph != nullptr) driver().cuGraphDestroy(graph);
  }

 private:
  int index_;
  Ordinal ordinal_;
  DeviceProperties properties_;
  Context context_;
  CudaPool memory_;
};

}  // namespace
}  // namespace tilewright::cuda

namespace tilewright::detail {

Backend& cuda_backend(int index) {
  // Never destroyed: buffers of static lifetime may outlive any order of destruction.
  static auto* mutex = new std::mutex;
  static auto* backends = new std::array<std::unique_ptr<cuda::CudaBackend>, 64>;
  const std::lock_guard lock(*mutex);
  auto& slot = backends->at(std::size_t(index));
  if (!slot) slot = std::make_unique<cuda::CudaBackend>(index);
  return *slot;
}

}  // namespace tilewright::detail
