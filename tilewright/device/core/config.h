// SPDX-License-Identifier: Apache-2.0
// Words that mean the same to NVRTC, nvcc and the host compiler. No standard header: kernels
// compile in tens of milliseconds without them.
#pragma once

#if defined(__CUDACC_RTC__)
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;
using size_t = decltype(sizeof(0));
#else
#include <stddef.h>
#include <stdint.h>
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define TW_HOST_DEVICE __host__ __device__ __forceinline__
#define TW_DEVICE __device__ __forceinline__
#define TW_KERNEL(...) __global__ void __launch_bounds__(__VA_ARGS__)  // threads[, least blocks]
#define TW_GRID_CONSTANT __grid_constant__
#define TW_UNROLL _Pragma("unroll")
#define TW_NO_UNROLL _Pragma("unroll 1")
#define TW_UNROLL_TWICE _Pragma("unroll 2")
#else
#define TW_HOST_DEVICE inline
#define TW_DEVICE inline
#define TW_UNROLL
#define TW_NO_UNROLL
#define TW_UNROLL_TWICE
#endif

#if defined(__CUDA_ARCH__)
#define TW_DEVICE_PASS 1
#else
#define TW_DEVICE_PASS 0
#endif

namespace tilewright {}
namespace tw = tilewright;
