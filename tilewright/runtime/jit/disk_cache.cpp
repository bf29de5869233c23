// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/disk_cache.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/files.h"
#include "tilewright/base/log.h"

namespace tilewright::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::optional<std::uintmax_t> kDefaultLimit = std::uintmax_t(1) << 30;
// A writer needs milliseconds: a temporary file of this age has no writer.
constexpr std::chrono::minutes kAbandoned{10};

struct Entry {
  fs::path path;
  fs::file_time_type used;
  std::uintmax_t size;
};

std::vector<Entry> list(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;  // another process may have removed it
    const auto used = fs::last_write_time(it->path(), gone);
    const auto size = gone ? 0 : fs::file_size(it->path(), gone);
    if (!gone) entries.push_back({it->path(), used, size});
  }
  return entries;
}

// Hundreds of kernels fail alike where one does.
void warn_once(const fs::path& folder, const char* problem) {
  static std::mutex mutex;
  static auto* warned = new std::set<fs::path>;
  {
    const std::lock_guard lock(mutex);
    if (!warned->insert(folder).second) return;
  }
  log_message(LogLevel::kWarning, str("kernel cache: ", problem,
                                      "; going on without the cache (TILEWRIGHT_CACHE names "
                                      "another folder)"));
}

}  // namespace

std::optional<std::uintmax_t> parse_size(const std::string& text) {
  std::uintmax_t value = 0;
  const auto [unit, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view units = "KMG", rest(unit, text.data() + text.size());
  if (rest.empty()) return value;
  const auto power = units.find(char(std::toupper(static_cast<unsigned char>(rest[0]))));
  if (rest.size() > 1 || power == units.npos) return std::nullopt;
  const int shift = 10 * (int(power) + 1);
  return value > (UINTMAX_MAX >> shift) ? std::nullopt : std::optional(value << shift);
}

DiskCache::DiskCache(fs::path folder, std::uintmax_t limit)
    : folder_(std::move(folder)), limit_(limit) {}

fs::path DiskCache::file_of(const std::string& key) const { return folder_ / (key + ".twk"); }

std::optional<Compiled> DiskCache::find(const std::string& key) const {
  const fs::path path = file_of(key);
  try {
    auto compiled = deserialized(read_text_file(path));
    std::error_code ignored;
    if (compiled)
      fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    else
      fs::remove(path, ignored);
    return compiled;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void DiskCache::store(const std::string& key, const Compiled& compiled) const {
  if (limit_ == 0) return;
  static std::atomic<unsigned> stores{0};
  try {
    std::error_code error;
    fs::create_directories(folder_, error);
    write_file_atomic(file_of(key), serialized(compiled));
    if (stores.fetch_add(1) % 64 == 0) trim();
  } catch (const Error& failure) {
    warn_once(folder_, failure.what());
  }
}

void DiskCache::trim() const {
  std::vector<Entry> entries = list(folder_);
  const auto now = fs::file_time_type::clock::now();
  std::error_code ignored;
  std::uintmax_t total = 0;
  std::erase_if(entries, [&](const Entry& entry) {
    if (entry.path.extension() != ".tmp") return false;
    if (now - entry.used > kAbandoned) fs::remove(entry.path, ignored);
    return true;
  });
  for (const Entry& entry : entries) total += entry.size;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_) break;
    fs::remove(entry.path, ignored);
    total -= entry.size;
  }
}

DiskCache process_cache() {
  const char* variable = std::getenv("TW_CACHE_LIMIT");
  const std::string text = variable == nullptr ? "" : variable;
  const auto limit = text.empty() ? kDefaultLimit : parse_size(text);
  TW_CHECK(limit.has_value(), InvalidArgument, "TW_CACHE_LIMIT: got '", text,
           "'; takes a number of bytes, such as 512M or 2G");
  return {cache_dir() / "kernels", *limit};
}

}  // namespace tilewright::jit
