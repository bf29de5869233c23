// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "tilewright/base/parallel.h"

namespace tilewright {

// parallel_for for work that streams through memory: each thread walks a contiguous range of its
// own, `step` tasks at a time, so that its prefetches stay useful; whoever is done early goes on
// with what is left of the others' ranges. Calls work(begin, end).
template <class Work>
void parallel_stream(std::int64_t count, std::int64_t step, const Work& work) {
  struct alignas(64) Range {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };
  constexpr std::int64_t kMaxRanges = 64;
  const std::int64_t ranges =
      std::min({std::int64_t(thread_count()), kMaxRanges, (count + step - 1) / step});
  if (ranges <= 1) {
    if (count > 0) work(std::int64_t{0}, count);
    return;
  }
  std::array<Range, kMaxRanges> all;
  for (std::int64_t i = 0; i < ranges; ++i) {
    Range& range = all[std::size_t(i)];
    range.next.store(count * i / ranges, std::memory_order_relaxed);
    range.end = count * (i + 1) / ranges;
  }
  const auto walk = [&](Range& range) {
    while (range.next.load(std::memory_order_relaxed) < range.end) {
      const std::int64_t begin = range.next.fetch_add(step, std::memory_order_relaxed);
      if (begin < range.end) work(begin, std::min(begin + step, range.end));
    }
  };
  parallel_for(ranges, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t mine = first; mine < last; ++mine)
      for (std::int64_t i = 0; i < ranges; ++i) walk(all[std::size_t((mine + i) % ranges)]);
  });
}

}  // namespace tilewright
