// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/library.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "tilewright/base/error.h"
#include "tilewright/runtime/library_search.h"

namespace tilewright {
namespace {

using detail::Candidate;
using detail::LibrarySpec;

struct Loaded {
  std::once_flag once;
  LibraryStatus status;
  void* handle = nullptr;
};

// NVRTC asks for its builtins by name: having them loaded makes any folder work.
void preload_builtins(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (file.starts_with("libnvrtc-builtins.so.")) dlopen(it->path().c_str(), RTLD_NOW);
  }
}

std::string path_of(void* handle, const std::string& fallback) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || *map->l_name == '\0')
    return fallback;
  std::error_code error;
  const auto real = std::filesystem::canonical(map->l_name, error);
  return error ? map->l_name : real.string();
}

std::string version_of(LibraryId id, void* handle) {
  const auto symbol = [&](const char* name) { return dlsym(handle, name); };
  const auto call_int = [&](const char* name) {
    int value = 0;
    if (void* found = symbol(name)) reinterpret_cast<int (*)(int*)>(found)(&value);
    return value;
  };
  const auto call_size = [&](const char* name) {
    void* found = symbol(name);
    return found == nullptr ? std::size_t(0) : reinterpret_cast<std::size_t (*)()>(found)();
  };
  switch (id) {
    case LibraryId::kCuda: {
      const int value = call_int("cuDriverGetVersion");
      return str(value / 1000, ".", value % 1000 / 10);
    }
    case LibraryId::kNvrtc: {
      int major = 0, minor = 0;
      if (void* found = symbol("nvrtcVersion"))
        reinterpret_cast<int (*)(int*, int*)>(found)(&major, &minor);
      return str(major, ".", minor);
    }
    case LibraryId::kCublasLt: {
      const std::size_t value = call_size("cublasLtGetVersion");
      return str(value / 10000, ".", value % 10000 / 100);
    }
    case LibraryId::kCudnn: {
      const std::size_t value = call_size("cudnnGetVersion");
      return str(value / 10000, ".", value % 10000 / 100);
    }
    case LibraryId::kNccl: {
      const int value = call_int("ncclGetVersion");
      return str(value / 10000, ".", value % 10000 / 100);
    }
    case LibraryId::kCupti: return str(call_int("cuptiGetVersion"));
  }
  return "";
}

int driver_major() {
  const LibraryStatus& driver = library_status(LibraryId::kCuda);
  return driver.loaded ? std::atoi(driver.version.c_str()) : 0;
}

void load(const LibrarySpec& spec, Loaded& result) {
  LibraryStatus& status = result.status;
  status.id = spec.id;
  status.name = spec.name;
  status.variable = spec.variable;
  status.remedy = spec.remedy;
  const int driver = spec.id == LibraryId::kCuda ? 0 : driver_major();
  for (const Candidate& candidate :
       detail::library_candidates(spec, detail::process_environment, driver)) {
    if (spec.id == LibraryId::kNvrtc && candidate.path.find('/') != std::string::npos)
      preload_builtins(candidate.path);
    const int mode = RTLD_NOW | RTLD_LOCAL | (candidate.already_loaded ? RTLD_NOLOAD : 0);
    result.handle = dlopen(candidate.path.c_str(), mode);
    if (result.handle != nullptr) {
      status.loaded = true;
      status.path = path_of(result.handle, candidate.path);
      status.found_by = candidate.found_by;
      status.version = version_of(spec.id, result.handle);
      return;
    }
    const char* reason = dlerror();
    if (candidate.already_loaded) reason = "not loaded in this process";
    const std::string text = reason != nullptr ? reason : "cannot be loaded";
    const bool named = text.starts_with(candidate.path);  // the loader says the path itself
    status.tried.push_back(named ? text : str(candidate.path, ": ", text));
  }
}

Loaded& loaded(LibraryId id) {
  static auto* all = new std::array<Loaded, 6>;
  Loaded& entry = all->at(std::size_t(id));
  std::call_once(entry.once, [&] { load(detail::library_spec(id), entry); });
  return entry;
}

}  // namespace

const LibraryStatus& library_status(LibraryId id) { return loaded(id).status; }

void* library_symbol(LibraryId id, const char* name) {
  const Loaded& library = loaded(id);
  const LibraryStatus& status = library.status;
  TW_CHECK(status.loaded, Library, status.name, " is not there (needed for ", name,
           "): ", status.tried.empty() ? "" : status.tried.back(), "; ", status.remedy);
  void* symbol = dlsym(library.handle, name);
  TW_CHECK(symbol != nullptr, Library, status.name, " ", status.version, " at ", status.path,
           " lacks ", name, "; ", status.remedy);
  return symbol;
}

}  // namespace tilewright
