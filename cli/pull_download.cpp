// SPDX-License-Identifier: Apache-2.0
#include "cli/pull_download.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "cli/pull_progress.h"
#include "tilewright/base/error.h"
#include "tilewright/base/files.h"
#include "tilewright/base/hash.h"

namespace tilewright::cli {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* action, int code) {
  if (code == ENOSPC || code == EDQUOT)
    TW_FAIL(Io, "disk full: cannot ", action, " ", path.string(),
            "; free some space, or let TILEWRIGHT_CACHE name a folder on another disk");
  TW_FAIL(Io, "cannot ", action, " ", path.string(), ": ", std::strerror(code));
}

std::uint64_t size_of(const std::filesystem::path& path) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  return missing ? 0 : size;
}

// "bytes 100-999/1000" starts at 100.
std::optional<std::uint64_t> range_start(const HttpResponse& response) {
  const auto header = response.headers.find("content-range");
  if (header == response.headers.end()) return std::nullopt;
  const auto digits = header->second.find_first_of("0123456789");
  if (digits == std::string::npos) return std::nullopt;
  return std::strtoull(header->second.c_str() + digits, nullptr, 10);
}

void check_status(const HttpResponse& response, const std::string& url) {
  const std::string where = without_secrets(url);
  if (response.status == 404 || response.status == 410)
    TW_FAIL(NotFound, where, ": not found (HTTP ", response.status, ")");
  TW_CHECK(response.status != 401 && response.status != 403, Io, where,
           ": the server refused (HTTP ", response.status,
           "); check the index and its password in pip's settings");
  TW_CHECK(response.status < 400 || response.status == 416 || response.may_retry, Io, where,
           ": HTTP ", response.status);
}

// One connection. Returns why it broke, or nothing when the file is as long as it should be.
HttpResponse fetch_rest(const Download& what, const HttpSettings& settings) {
  OutputFile out(what.file, OutputFile::Mode::kAppend);
  const std::uint64_t had = size_of(what.file);
  Progress progress("downloading", what.bytes, had, what.quiet);
  std::uint64_t at = had;
  bool wanted = false;  // false for the text of an error page
  HttpRequest request;
  request.url = what.url;
  request.cancelled = what.cancelled;
  if (had > 0) request.headers.push_back(str("Range: bytes=", had, "-"));
  request.on_start = [&](const HttpResponse& response) {
    wanted = response.status == 200 || response.status == 206 || response.status == 0;
    // A server without ranges sends all of it again.
    if (wanted && had > 0 && (response.status != 206 || range_start(response) != had)) {
      TW_CHECK(response.status == 200, Io, without_secrets(what.url),
               ": the server sent another range than the one asked for");
      out.truncate();
      at = 0;
    }
  };
  request.on_data = [&](std::span<const std::byte> bytes) {
    if (!wanted) return;
    TW_CHECK(bytes.size() <= what.bytes - at, Format, without_secrets(what.url), ": more than the ",
             what.bytes, " bytes it should have");
    out.write(bytes);
    progress.set(at += bytes.size());
  };
  return http_get(request, settings);
}

void pause(int attempt, const std::function<bool()>& cancelled) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(250 << attempt);
  while (std::chrono::steady_clock::now() < until) {
    TW_CHECK(!cancelled || !cancelled(), Cancelled, "stopped");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

// Attempts that bring nothing new are counted; one that does starts the count anew.
void fetch_all(const Download& what, const HttpSettings& settings) {
  constexpr int kAttempts = 6;
  for (int attempt = 0; size_of(what.file) < what.bytes;) {
    const std::uint64_t before = size_of(what.file);
    const HttpResponse response = fetch_rest(what, settings);
    check_status(response, what.url);
    if (size_of(what.file) >= what.bytes) return;
    if (response.status == 416) std::filesystem::remove(what.file);  // theirs is shorter
    attempt = size_of(what.file) > before ? 0 : attempt + 1;
    const std::string why = !response.failure.empty() ? response.failure : "the data end early";
    TW_CHECK(attempt < kAttempts && (response.may_retry || response.failure.empty()), Io,
             without_secrets(what.url), ": ", why, "; ", megabytes(size_of(what.file)), " of ",
             megabytes(what.bytes), " are kept, and the next try goes on from there");
    pause(attempt, what.cancelled);
  }
}

std::string hash_of(const Download& what) {
  const MappedFile file(what.file);
  Sha256 sha;
  constexpr std::size_t kPiece = std::size_t{4} << 20;
  for (auto rest = file.bytes(); !rest.empty();
       rest = rest.subspan(std::min(kPiece, rest.size()))) {
    TW_CHECK(!what.cancelled || !what.cancelled(), Cancelled, "stopped");
    sha.update(rest.first(std::min(kPiece, rest.size())));
  }
  return sha.hex_digest();
}

}  // namespace

void download(const Download& what, const HttpSettings& settings) {
  std::string found;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (size_of(what.file) > what.bytes) std::filesystem::remove(what.file);
    fetch_all(what, settings);
    found = hash_of(what);
    if (found == what.sha256) return;
    std::filesystem::remove(what.file);
  }
  TW_FAIL(Format, without_secrets(what.url), ": SHA-256 is ", found, ", expected ", what.sha256,
          "; the index serves another file than the one this release knows");
}

OutputFile::OutputFile(const std::filesystem::path& path, Mode mode)
    : path_(path),
      descriptor_(::open(
          path.c_str(),
          O_WRONLY | O_CREAT | O_CLOEXEC | (mode == Mode::kAppend ? O_APPEND : O_TRUNC), 0644)) {
  if (descriptor_ < 0) fail(path_, "write", errno);
}

OutputFile::~OutputFile() { ::close(descriptor_); }

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void OutputFile::truncate() {
  if (::ftruncate(descriptor_, 0) != 0) fail(path_, "shorten", errno);
}

void OutputFile::sync() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail(path_, "write", errno);
}

}  // namespace tilewright::cli
