// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace tilewright {

// Worker threads that cpu ops share, the caller included. TW_THREADS sets the number; the default
// is the number of cores this process may use. Throws InvalidArgument when it is no such number.
int thread_count();
// Takes effect for work that starts later; 1 runs everything in the caller.
void set_thread_count(int threads);

// A borrowed callable: no allocation for each parallel region.
class RangeFunction {
 public:
  template <class F>
  RangeFunction(const F& function)  // NOLINT: implicit on purpose
      : object_(&function), call_([](const void* object, std::int64_t begin, std::int64_t end) {
          (*static_cast<const F*>(object))(begin, end);
        }) {}
  void operator()(std::int64_t begin, std::int64_t end) const { call_(object_, begin, end); }

 private:
  const void* object_;
  void (*call_)(const void*, std::int64_t, std::int64_t);
};

// Calls work(begin, end) over disjoint ranges that cover [0, count), at most one a thread plus
// dynamic chunks of at least `grain`. Returns when all are done; the first exception is rethrown.
// Nested calls run in the caller. Workers spin briefly before they sleep, so that the next region
// of a decode step starts within a microsecond.
void parallel_for(std::int64_t count, std::int64_t grain, RangeFunction work);

}  // namespace tilewright
