// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/disk_cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <fstream>
#include <thread>

#include "tilewright/base/error.h"
#include "tilewright/base/files.h"
#include "tilewright/base/log.h"
#include "tilewright/runtime/jit/test_folder.h"

namespace tilewright::jit {
namespace {

namespace fs = std::filesystem;
constexpr std::uintmax_t kLarge = 1 << 30;

Compiled sample(std::size_t bytes = 1000, char fill = 'x') {
  return {"_Z6kernelv", std::string(bytes, fill), 32, 8, 16, 24, 1.5};
}

bool equal(const std::optional<Compiled>& a, const Compiled& b) {
  return a && a->lowered_name == b.lowered_name && a->cubin == b.cubin &&
         a->registers == b.registers && a->spill_bytes == b.spill_bytes &&
         a->shared_bytes == b.shared_bytes && a->stack_bytes == b.stack_bytes;
}

TEST(Compiled, SurvivesSerialisation) {
  EXPECT_TRUE(equal(deserialized(serialized(sample())), sample()));
}

TEST(Compiled, AnyDamageIsSeen) {
  const std::string good = serialized(sample(50));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = char(bad[i] ^ 1);
    EXPECT_FALSE(deserialized(bad)) << "byte " << i;
    EXPECT_FALSE(deserialized(good.substr(0, i))) << "cut at " << i;
  }
  EXPECT_FALSE(deserialized(good + "x"));
}

TEST(PtxasLog, GivesRegistersAndSpills) {
  const Resources found = parse_ptxas_log(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90a'\n"
      "ptxas info    : Function properties for _Z1kPf\n"
      "    64 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 4096 bytes smem\n");
  EXPECT_EQ(found.registers, 255);
  EXPECT_EQ(found.spill_bytes, 32);
  EXPECT_EQ(found.stack_bytes, 64);
  EXPECT_EQ(found.shared_bytes, 4096);
  EXPECT_TRUE(found.performance_losses.empty());
}

TEST(PtxasLog, SeesLossesOfPerformance) {
  const Resources found = parse_ptxas_log(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async is serialized\n"
      "ptxas info    : (C1234) something else\n");
  ASSERT_EQ(found.performance_losses.size(), 1u);
  EXPECT_NE(found.performance_losses[0].find("C7510"), std::string::npos);
}

TEST(DiskCache, FindsWhatWasStored) {
  const TestFolder folder;
  const DiskCache cache(folder.path() / "kernels", kLarge);
  EXPECT_FALSE(cache.find("key"));
  cache.store("key", sample());
  EXPECT_TRUE(equal(cache.find("key"), sample()));
  EXPECT_FALSE(cache.find("other"));
}

TEST(DiskCache, ADamagedEntryIsAMissAndIsReplaced) {
  const TestFolder folder;
  const DiskCache cache(folder.path(), kLarge);
  cache.store("key", sample());
  std::ofstream(folder.path() / "key.twk", std::ios::app) << "junk";
  EXPECT_FALSE(cache.find("key"));
  cache.store("key", sample());
  EXPECT_TRUE(equal(cache.find("key"), sample()));
}

TEST(DiskCache, TheLeastRecentlyUsedGoFirst) {
  const TestFolder folder;
  const DiskCache cache(folder.path(), kLarge);
  const auto age = [&](const char* key, int minutes) {
    fs::last_write_time(folder.path() / (std::string(key) + ".twk"),
                        fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
  };
  for (const char* key : {"a", "b", "c"}) cache.store(key, sample(1000));
  age("a", 30);
  age("b", 20);
  age("c", 10);
  EXPECT_TRUE(cache.find("a"));  // used now: the youngest
  DiskCache(folder.path(), 2500).trim();
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("c"));
}

TEST(DiskCache, LeftoversOfKilledWritersAreRemoved) {
  const TestFolder folder;
  const fs::path old = folder.path() / ".key.twk.1.0.tmp", fresh = folder.path() / ".k.2.0.tmp";
  std::ofstream(old) << "half";
  std::ofstream(fresh) << "half";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(1));
  DiskCache(folder.path(), kLarge).trim();
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh)) << "another process may be writing it";
}

TEST(DiskCache, AFolderThatCannotBeWrittenIsOneWarning) {
  std::string warning;
  set_log_callback([&](LogLevel, std::string_view text) { warning += text; });
  // A file where the folder should be: no process, root included, can write below it.
  const TestFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  for (const char* key : {"key", "other"})
    DiskCache(folder.path() / "file" / "kernels", kLarge).store(key, sample());
  set_log_callback(nullptr);
  const auto first = warning.find("going on without the cache");
  EXPECT_NE(first, std::string::npos) << warning;
  EXPECT_EQ(warning.find("going on", first + 1), std::string::npos) << warning;
}

TEST(DiskCache, AFullDiskIsAWarning) {
  std::string warning;
  set_log_callback([&](LogLevel, std::string_view text) { warning = text; });
  const TestFolder folder;
  // A limit on the size of files refuses the write as a full disk does.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tiny{100, before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tiny);
  DiskCache(folder.path() / "kernels", kLarge).store("key", sample(100000));
  setrlimit(RLIMIT_FSIZE, &before);
  set_log_callback(nullptr);
  EXPECT_NE(warning.find("going on without the cache"), std::string::npos) << warning;
  EXPECT_TRUE(fs::is_empty(folder.path() / "kernels")) << "a half-written file was left";
}

TEST(DiskCache, TwoProcessesAtOnce) {
  const TestFolder folder;
  const pid_t child = fork();
  const DiskCache cache(folder.path(), kLarge);
  // Both write the same keys; whoever reads sees a whole entry of either, or none.
  for (int round = 0; round < 300; ++round) {
    const std::string key = str("key", round % 5);
    cache.store(key, sample(5000, child == 0 ? 'c' : 'p'));
    const auto found = cache.find(key);
    const bool whole = !found || found->cubin.size() == 5000;
    if (child == 0 && !whole) _exit(1);
    EXPECT_TRUE(whole);
  }
  if (child == 0) _exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(DiskCache, AKilledWriterHarmsNobody) {
  const TestFolder folder;
  const DiskCache cache(folder.path(), kLarge);
  cache.store("key", sample(1 << 20, 'a'));
  const pid_t child = fork();
  if (child == 0) {
    for (;;) cache.store("key", sample(1 << 20, 'b'));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const auto found = cache.find("key");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cubin.size(), std::size_t(1) << 20);
}

TEST(ParseSize, ReadsUnits) {
  EXPECT_EQ(parse_size("512M"), std::uintmax_t(512) << 20);
  EXPECT_EQ(parse_size("2g"), std::uintmax_t(2) << 30);
  EXPECT_EQ(parse_size("100"), 100u);
  for (const char* bad :
       {"", "lots", "-1", "512MB", "1.5G", "99999999999999999999", "99999999999G"})
    EXPECT_FALSE(parse_size(bad)) << bad;
}

TEST(ProcessCache, ALimitThatIsNoSizeIsRefusedByName) {
  setenv("TW_CACHE_LIMIT", "512MB", 1);
  try {
    process_cache();
    ADD_FAILURE() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("TW_CACHE_LIMIT: got '512MB'"), std::string::npos);
  }
  unsetenv("TW_CACHE_LIMIT");
  EXPECT_NO_THROW(process_cache());
}

}  // namespace
}  // namespace tilewright::jit
