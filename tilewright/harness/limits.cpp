// SPDX-License-Identifier: Apache-2.0
#include "tilewright/harness/limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/runtime/memory.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tilewright {
namespace {

constexpr std::size_t kCudaBytes = std::size_t{4} << 30;
constexpr std::size_t kCpuBytes = std::size_t{256} << 20;
constexpr std::int64_t kPiece = 1 << 20;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

double median_seconds(int repeats, const std::function<void()>& work) {
  work();  // page faults and waking threads
  std::vector<double> seconds;
  for (int i = 0; i < std::max(repeats, 1); ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return median(std::move(seconds));
}

void in_pieces(std::size_t bytes, RangeFunction work) {
  parallel_for(std::int64_t(bytes) / kPiece, 1, work);
}

// Past the cache: whole lines are written without being read first.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__SSE2__)
  auto* target = reinterpret_cast<__m128i*>(to);
  const auto* source = reinterpret_cast<const __m128i*>(from);
  for (std::size_t i = 0; i < bytes / 16; ++i) _mm_stream_si128(target + i, source[i]);
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

double cpu_copy(std::size_t bytes, int repeats) {
  const Stream stream(Device::cpu());
  const Buffer from = Buffer::allocate(stream, bytes), to = Buffer::allocate(stream, bytes);
  std::memset(from.data(), 1, bytes);
  std::memset(to.data(), 2, bytes);
  auto* target = static_cast<std::byte*>(to.data());
  const auto* source = static_cast<const std::byte*>(from.data());
  const auto time = [&](auto copy) {
    return median_seconds(repeats, [&] {
      in_pieces(bytes, [&](std::int64_t begin, std::int64_t end) {
        copy(target + begin * kPiece, source + begin * kPiece, std::size_t((end - begin) * kPiece));
      });
    });
  };
  const double plain =
      time([](std::byte* a, const std::byte* b, std::size_t n) { std::memcpy(a, b, n); });
  return 2 * double(bytes) / std::min(plain, time(stream_copy)) / 1e9;
}

double cuda_copy(Device device, std::size_t bytes, int repeats) {
  const Stream stream(device);
  const Buffer from = Buffer::allocate(stream, bytes), to = Buffer::allocate(stream, bytes);
  fill_bytes(from.data(), device, 0x5a, bytes, stream);
  std::vector<double> seconds;
  const Event start(device, true), end(device, true);
  for (int i = 0; i <= repeats; ++i) {
    start.record(stream);
    copy_bytes(to.data(), device, from.data(), device, bytes, stream);
    end.record(stream);
    stream.synchronize();
    if (i > 0) seconds.push_back(end.microseconds_since(start) / 1e6);
  }
  return 2 * double(bytes) / median(std::move(seconds)) / 1e9;
}

}  // namespace

double copy_bandwidth(Device device, const LimitOptions& options) {
  std::size_t bytes = options.bytes;
  if (bytes == 0) {
    bytes = device.is_cpu() ? kCpuBytes : kCudaBytes;
    bytes = std::min(bytes, properties(device).memory_bytes / 16);
  }
  bytes = std::max<std::size_t>(bytes / kPiece, 1) * kPiece;
  return device.is_cpu() ? cpu_copy(bytes, options.repeats)
                         : cuda_copy(device, bytes, options.repeats);
}

double read_bandwidth(const LimitOptions& options) {
  const std::size_t bytes =
      std::max<std::size_t>((options.bytes == 0 ? kCpuBytes : options.bytes) / kPiece, 1) * kPiece;
  const Stream stream(Device::cpu());
  const Buffer buffer = Buffer::allocate(stream, bytes);
  std::memset(buffer.data(), 1, bytes);
  const auto* words = static_cast<const std::uint64_t*>(buffer.data());
  std::atomic<std::uint64_t> sink{0};
  const double seconds = median_seconds(options.repeats, [&] {
    in_pieces(bytes, [&](std::int64_t begin, std::int64_t end) {
      constexpr std::int64_t kWords = kPiece / 8;
      std::uint64_t sums[8] = {};
      for (std::int64_t i = begin * kWords; i < end * kWords; i += 8)
        for (int lane = 0; lane < 8; ++lane) sums[lane] += words[i + lane];
      for (const std::uint64_t sum : sums) sink.fetch_add(sum, std::memory_order_relaxed);
    });
  });
  return double(bytes) / seconds / 1e9;
}

}  // namespace tilewright
