// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver's C interface that is used here, declared by ourselves: no CUDA
// header at build time, no libcuda at start. Source: NVIDIA, CUDA Driver API reference.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilewright::cuda {

using Result = int;
using Ordinal = int;
using Pointer = unsigned long long;
struct ContextOpaque;
struct StreamOpaque;
struct EventOpaque;
struct ModuleOpaque;
struct FunctionOpaque;
struct GraphOpaque;
struct GraphExecOpaque;
struct MemoryPoolOpaque;
using Context = ContextOpaque*;
using StreamHandle = StreamOpaque*;
using EventHandle = EventOpaque*;
using Module = ModuleOpaque*;
using Function = FunctionOpaque*;
using GraphHandle = GraphOpaque*;
using GraphExec = GraphExecOpaque*;
using MemoryPool = MemoryPoolOpaque*;

inline constexpr Result kSuccess = 0, kErrorOutOfMemory = 2, kErrorNoDevice = 100,
                        kErrorNotReady = 600, kErrorGraphUpdate = 910;

enum DeviceAttribute : int {
  kMultiprocessors = 16,
  kL2Bytes = 38,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedOptin = 97,
  kPoolsSupported = 115,
};
enum FunctionAttribute : int {
  kFunctionMaxThreads = 0,
  kFunctionStaticShared = 1,
  kFunctionLocal = 3,
  kFunctionRegisters = 4,
  kFunctionDynamicShared = 8,
  kFunctionNonPortableCluster = 14,
};
enum LaunchAttributeId : int { kClusterDimension = 4, kProgrammaticSerialization = 6 };
inline constexpr unsigned kStreamNonBlocking = 1, kEventDisableTiming = 2;
inline constexpr int kCaptureThreadLocal = 1, kCaptureRelaxed = 2;
inline constexpr int kPoolReleaseThreshold = 4, kPoolReservedCurrent = 5;
inline constexpr int kMemoryHost = 1, kMemoryDevice = 2;

struct MemoryLocation {
  int type = 1;  // a device
  int id = 0;
};
struct MemoryPoolProperties {
  int allocation_type = 1;  // pinned, the only one
  int handle_types = 0;
  MemoryLocation location;
  void* security = nullptr;
  std::size_t max_size = 0;
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};
struct MemoryAccess {
  MemoryLocation location;
  int flags = 3;  // read and write
};

struct Memcpy2D {
  std::size_t from_x, from_y;
  int from_type;
  const void* from_host;
  Pointer from_device;
  void* from_array;
  std::size_t from_pitch;
  std::size_t to_x, to_y;
  int to_type;
  void* to_host;
  Pointer to_device;
  void* to_array;
  std::size_t to_pitch;
  std::size_t width, height;
};

struct LaunchAttribute {
  int id;
  int pad;
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int flag;
  } value;
};
struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
struct GraphUpdateResult {
  int result;
  void* error_node;
  void* error_from_node;
};
static_assert(sizeof(MemoryPoolProperties) == 88 && sizeof(Memcpy2D) == 128);
static_assert(sizeof(LaunchAttribute) == 72 && sizeof(LaunchConfig) == 56);

// Name, version to ask cuGetProcAddress for, parameters. Older drivers may lack an optional one.
#define TW_DRIVER_FUNCTIONS(REQUIRED, OPTIONAL)                                      \
  REQUIRED(cuInit, unsigned)                                                         \
  REQUIRED(cuGetErrorName, Result, const char**)                                     \
  REQUIRED(cuGetErrorString, Result, const char**)                                   \
  REQUIRED(cuDeviceGetCount, int*)                                                   \
  REQUIRED(cuDeviceGet, Ordinal*, int)                                               \
  REQUIRED(cuDeviceGetName, char*, int, Ordinal)                                     \
  REQUIRED(cuDeviceTotalMem, std::size_t*, Ordinal)                                  \
  REQUIRED(cuDeviceGetAttribute, int*, int, Ordinal)                                 \
  REQUIRED(cuDevicePrimaryCtxRetain, Context*, Ordinal)                              \
  REQUIRED(cuDeviceCanAccessPeer, int*, Ordinal, Ordinal)                            \
  REQUIRED(cuCtxGetCurrent, Context*)                                                \
  REQUIRED(cuCtxSetCurrent, Context)                                                 \
  REQUIRED(cuStreamCreate, StreamHandle*, unsigned)                                  \
  REQUIRED(cuStreamDestroy, StreamHandle)                                            \
  REQUIRED(cuStreamSynchronize, StreamHandle)                                        \
  REQUIRED(cuStreamWaitEvent, StreamHandle, EventHandle, unsigned)                   \
  REQUIRED(cuStreamBeginCapture, StreamHandle, int)                                  \
  REQUIRED(cuStreamEndCapture, StreamHandle, GraphHandle*)                           \
  REQUIRED(cuStreamIsCapturing, StreamHandle, int*)                                  \
  REQUIRED(cuThreadExchangeStreamCaptureMode, int*)                                  \
  REQUIRED(cuEventCreate, EventHandle*, unsigned)                                    \
  REQUIRED(cuEventDestroy, EventHandle)                                              \
  REQUIRED(cuEventRecord, EventHandle, StreamHandle)                                 \
  REQUIRED(cuEventSynchronize, EventHandle)                                          \
  REQUIRED(cuEventQuery, EventHandle)                                                \
  REQUIRED(cuEventElapsedTime, float*, EventHandle, EventHandle)                     \
  REQUIRED(cuMemAlloc, Pointer*, std::size_t)                                        \
  REQUIRED(cuMemFree, Pointer)                                                       \
  REQUIRED(cuMemHostAlloc, void**, std::size_t, unsigned)                            \
  REQUIRED(cuMemFreeHost, void*)                                                     \
  REQUIRED(cuMemPoolCreate, MemoryPool*, const MemoryPoolProperties*)                \
  REQUIRED(cuMemPoolSetAttribute, MemoryPool, int, void*)                            \
  REQUIRED(cuMemPoolGetAttribute, MemoryPool, int, void*)                            \
  REQUIRED(cuMemPoolSetAccess, MemoryPool, const MemoryAccess*, std::size_t)         \
  REQUIRED(cuMemPoolTrimTo, MemoryPool, std::size_t)                                 \
  REQUIRED(cuMemAllocFromPoolAsync, Pointer*, std::size_t, MemoryPool, StreamHandle) \
  REQUIRED(cuMemFreeAsync, Pointer, StreamHandle)                                    \
  REQUIRED(cuMemcpyAsync, Pointer, Pointer, std::size_t, StreamHandle)               \
  REQUIRED(cuMemcpy2DAsync, const Memcpy2D*, StreamHandle)                           \
  REQUIRED(cuMemsetD8Async, Pointer, unsigned char, std::size_t, StreamHandle)       \
  REQUIRED(cuModuleLoadData, Module*, const void*)                                   \
  REQUIRED(cuModuleUnload, Module)                                                   \
  REQUIRED(cuModuleGetFunction, Function*, Module, const char*)                      \
  REQUIRED(cuFuncGetAttribute, int*, int, Function)                                  \
  REQUIRED(cuFuncSetAttribute, Function, int, int)                                   \
  REQUIRED(cuLaunchKernelEx, const LaunchConfig*, Function, void**, void**)          \
  REQUIRED(cuGraphInstantiateWithFlags, GraphExec*, GraphHandle, unsigned long long) \
  REQUIRED(cuGraphExecUpdate, GraphExec, GraphHandle, GraphUpdateResult*)            \
  REQUIRED(cuGraphLaunch, GraphExec, StreamHandle)                                   \
  REQUIRED(cuGraphGetNodes, GraphHandle, void**, std::size_t*)                       \
  REQUIRED(cuGraphDestroy, GraphHandle)                                              \
  REQUIRED(cuGraphExecDestroy, GraphExec)                                            \
  OPTIONAL(cuFuncGetParamInfo, Function, std::size_t, std::size_t*, std::size_t*)

struct Driver {
#define TW_DECLARE(name, ...) Result (*name)(__VA_ARGS__) = nullptr;
  TW_DRIVER_FUNCTIONS(TW_DECLARE, TW_DECLARE)
#undef TW_DECLARE
  int version = 0;  // 13000
};

// Throws LibraryError when there is no driver or it is older than CUDA 12.
const Driver& driver();

// Throws DeviceError naming the call, the error and a remedy. `device` may be -1.
void check(Result result, const char* call, int device);

// The names of the last kernels launched on any device, for faults that surface later.
void note_launch(const char* name);

}  // namespace tilewright::cuda

// TW_CU(device, cuStreamSynchronize(stream));
#define TW_CU(device, call_and_arguments)                                                         \
  do {                                                                                            \
    const ::tilewright::cuda::Result tw_result = ::tilewright::cuda::driver().call_and_arguments; \
    if (tw_result != ::tilewright::cuda::kSuccess) [[unlikely]]                                   \
      ::tilewright::cuda::check(tw_result, #call_and_arguments, device);                          \
  } while (0)
