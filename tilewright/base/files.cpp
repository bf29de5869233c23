// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

class FileDescriptor {
 public:
  explicit FileDescriptor(int value) : value_(value) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }

 private:
  int value_;
};

[[noreturn]] void fail(const std::filesystem::path& path, const char* action, int code) {
  const ErrorKind kind = code == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo;
  throw_error(kind, str("cannot ", action, " ", path.string(), ": ", std::strerror(code)));
}

void write_all(int file, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (::fsync(file) != 0 && errno != EINVAL) fail(path, "sync", errno);
}

// A new file beside `path`, and its name. A name may be taken: by another machine that shares the
// folder, or by a writer that was killed and had this process's number.
int create_beside(const std::filesystem::path& path, std::filesystem::path& aside) {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 1000; ++attempt) {
    aside = path.parent_path() /
            str(".", path.filename().string(), ".", ::getpid(), ".", counter.fetch_add(1), ".tmp");
    const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0) return file;
    if (errno != EEXIST) break;
  }
  fail(path, "write", errno);
}

}  // namespace

struct MappedFile::State {
  std::filesystem::path path;
  void* address = nullptr;
  std::size_t size = 0;
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (address != nullptr) ::munmap(address, size);
  }
};

MappedFile::MappedFile(const std::filesystem::path& path) {
  // Without O_NONBLOCK a pipe would be waited for, only to be refused.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail(path, "open", errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) fail(path, "read", errno);
  if (!S_ISREG(status.st_mode)) TW_FAIL(Io, path.string(), " is not a regular file");
  auto state = std::make_shared<State>();
  state->path = path;
  state->size = static_cast<std::size_t>(status.st_size);
  if (state->size > 0) {
    void* address = ::mmap(nullptr, state->size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (address == MAP_FAILED) {
      state->size = 0;
      fail(path, "map", errno);
    }
    state->address = address;
  }
  state_ = std::move(state);
}

std::span<const std::byte> MappedFile::bytes() const {
  if (!state_) return {};
  return {static_cast<const std::byte*>(state_->address), state_->size};
}

const std::filesystem::path& MappedFile::path() const {
  static const std::filesystem::path none;
  return state_ ? state_->path : none;
}

// By read() and not by a map: pipes have no map, and a map of a file that a network file system
// takes away is a signal, not an error.
std::string read_text_file(const std::filesystem::path& path, std::size_t limit) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail(path, "open", errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) fail(path, "read", errno);
  const auto promised = static_cast<std::size_t>(S_ISREG(status.st_mode) ? status.st_size : 0);
  std::string text(std::max(std::min(promised, limit) + 1, kReadBytes), '\0');
  std::size_t size = 0;
  while (true) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "read", errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    TW_CHECK(size <= limit, Io, path.string(), " has more than the ", limit,
             " bytes that are read here");
    if (size == text.size()) text.resize(2 * size);
  }
  text.resize(size);
  return text;
}

void write_file_atomic(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::filesystem::path aside;
  const FileDescriptor file(create_beside(path, aside));
  try {
    write_all(file.get(), bytes, path);
    if (::rename(aside.c_str(), path.c_str()) != 0) fail(path, "rename into", errno);
  } catch (...) {
    ::unlink(aside.c_str());
    throw;
  }
}

void write_file_atomic(const std::filesystem::path& path, std::string_view text) {
  write_file_atomic(path, std::as_bytes(std::span(text.data(), text.size())));
}

std::filesystem::path cache_dir() {
  const auto from = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string own = from("TILEWRIGHT_CACHE"); !own.empty()) return own;
  if (const std::string xdg = from("XDG_CACHE_HOME"); !xdg.empty())
    return std::filesystem::path(xdg) / "tilewright";
  if (const std::string home = from("HOME"); !home.empty())
    return std::filesystem::path(home) / ".cache" / "tilewright";
  return std::filesystem::temp_directory_path() / "tilewright";
}

}  // namespace tilewright
