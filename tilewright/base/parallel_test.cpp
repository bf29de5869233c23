// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

// Whether each of `count` items is visited once.
bool covers(std::int64_t count, std::int64_t grain) {
  std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++visits[std::size_t(i)];
  });
  for (const auto& visit : visits) {
    if (visit != 1) return false;
  }
  return true;
}

TEST(Parallel, EveryItemOnceForAnyNumberOfThreads) {
  const int before = thread_count();
  for (const int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    for (const std::int64_t count : {0, 1, 2, 6, 7, 1000}) {
      for (const std::int64_t grain : {0, 1, 3, 5000}) EXPECT_TRUE(covers(count, grain)) << count;
    }
  }
  set_thread_count(before);
}

TEST(Parallel, TheFirstExceptionIsRethrownAndThePoolGoesOn) {
  const int before = thread_count();
  set_thread_count(4);
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(parallel_for(100, 1,
                              [](std::int64_t begin, std::int64_t) {
                                if (begin % 2 == 0) throw std::runtime_error("item");
                              }),
                 std::runtime_error);
  }
  EXPECT_TRUE(covers(100, 1));
  set_thread_count(before);
}

TEST(Parallel, NestedRegionsRunInTheCaller) {
  std::atomic<int> calls{0};
  parallel_for(8, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      parallel_for(10, 1, [&](std::int64_t from, std::int64_t to) { calls += int(to - from); });
  });
  EXPECT_EQ(calls, 80);
}

// In processes of their own: the pool is made once, and threads are never taken back.
class ParallelProcess : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  [[noreturn]] static void run_where_threads_are_refused() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * std::size_t(sysconf(_SC_PAGESIZE)) + (std::size_t{64} << 20);
    const rlimit limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    set_thread_count(1000);
    const bool good = covers(5000, 1) && covers(5000, 1);
    std::_Exit(good ? 0 : 1);
  }

  [[noreturn]] static void start_with(const char* threads) {
    setenv("TW_THREADS", threads, 1);
    try {
      std::fprintf(stderr, "count %d", thread_count());
    } catch (const InvalidArgument& error) {
      std::fputs(error.what(), stderr);
    }
    std::_Exit(0);
  }
};

TEST_F(ParallelProcess, FewerThreadsThanAskedForDoTheWork) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow does not fit below the limit";
#endif
  EXPECT_EXIT(run_where_threads_are_refused(), testing::ExitedWithCode(0), "");
}

TEST_F(ParallelProcess, TheVariableIsANumberOrAnError) {
  EXPECT_EXIT(start_with("3"), testing::ExitedWithCode(0), "count 3");
  for (const char* bad : {"two", "0", "-1", "2x", "99999999999"})
    EXPECT_EXIT(start_with(bad), testing::ExitedWithCode(0), "TW_THREADS: got '.*'; takes 1 to");
}

}  // namespace
}  // namespace tilewright
