// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/library_search.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "tilewright/base/error.h"
#include "tilewright/base/files.h"

namespace tilewright::detail {
namespace {

namespace fs = std::filesystem;

const std::array<LibrarySpec, 6>& specs() {
  static const std::array<LibrarySpec, 6> all{{
      {LibraryId::kCuda,
       "CUDA driver",
       "TW_CUDA",
       {"libcuda.so.1"},
       {},
       "",
       "",
       "install the NVIDIA driver (550 or later), or set TW_CUDA to libcuda.so.1"},
      {LibraryId::kNvrtc,
       "NVRTC",
       "TW_NVRTC",
       {"libnvrtc.so.13", "libnvrtc.so.12"},
       {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"},
       "nvidia-cuda-nvrtc",
       "nvrtc",
       "run scripts/setup.sh or `pip install nvidia-cuda-nvrtc` (nvidia-cuda-nvrtc-cu12 for a "
       "12.x driver), or set TW_NVRTC to libnvrtc.so"},
      {LibraryId::kCublasLt,
       "cuBLASLt",
       "TW_CUBLASLT",
       {"libcublasLt.so.13", "libcublasLt.so.12"},
       {"nvidia/cu13/lib", "nvidia/cublas/lib"},
       "nvidia-cublas",
       "",
       "`pip install nvidia-cublas` or set TW_CUBLASLT; without it our own kernels are used"},
      {LibraryId::kCudnn,
       "cuDNN",
       "TW_CUDNN",
       {"libcudnn.so.9"},
       {"nvidia/cudnn/lib"},
       "nvidia-cudnn",
       "",
       "`pip install nvidia-cudnn-cu13` or set TW_CUDNN"},
      {LibraryId::kNccl,
       "NCCL",
       "TW_NCCL",
       {"libnccl.so.2"},
       {"nvidia/nccl/lib"},
       "nvidia-nccl",
       "",
       "`pip install nvidia-nccl-cu13` or set TW_NCCL"},
      {LibraryId::kCupti,
       "CUPTI",
       "TW_CUPTI",
       {"libcupti.so.13", "libcupti.so.12"},
       {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"},
       "nvidia-cuda-cupti",
       "",
       "`pip install nvidia-cuda-cupti` or set TW_CUPTI"},
  }};
  return all;
}

// Entries of `parent` that start with `prefix`, in descending order: newer versions first.
std::vector<fs::path> entries(const fs::path& parent, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(prefix)) found.push_back(it->path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

void add_prefix(std::vector<fs::path>& folders, const fs::path& prefix) {
  for (const fs::path& python : entries(prefix / "lib", "python3")) {
    folders.push_back(python / "site-packages");
    folders.push_back(python / "dist-packages");
  }
}

// The installation prefixes of the python3 that a shell would start: of a virtual environment and
// of what its link leads to.
void add_python_on_path(std::vector<fs::path>& folders, const std::string& path) {
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, ':');) {
    std::error_code error;
    const fs::path program = fs::path(part) / "python3";
    if (part.empty() || !fs::exists(program, error)) continue;
    add_prefix(folders, program.parent_path().parent_path());
    const fs::path real = fs::canonical(program, error);
    if (!error) add_prefix(folders, real.parent_path().parent_path());
    return;
  }
}

void add_folder(std::vector<Candidate>& list, const LibrarySpec& spec, const fs::path& folder,
                const std::string& found_by) {
  for (const std::string& soname : spec.sonames) {
    std::error_code error;
    if (fs::exists(folder / soname, error)) list.push_back({folder / soname, found_by, false});
  }
}

std::vector<fs::path> toolkit_folders(const Environment& environment) {
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = environment(variable); !root.empty()) roots.emplace_back(root);
  }
  for (const fs::path& root : entries("/usr/local", "cuda")) roots.push_back(root);
  std::vector<fs::path> folders;
  for (const fs::path& root : roots) {
    for (const char* below : {"lib64", "targets/x86_64-linux/lib", "extras/CUPTI/lib64"})
      folders.push_back(root / below);
  }
  return folders;
}

}  // namespace

const LibrarySpec& library_spec(LibraryId id) { return specs().at(std::size_t(id)); }

std::string process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int soname_major(const std::string& path) {
  const auto at = path.rfind(".so.");
  return at == std::string::npos ? 0 : std::atoi(path.c_str() + at + 4);
}

std::vector<fs::path> site_packages(const Environment& environment) {
  std::vector<fs::path> folders;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string prefix = environment(variable); !prefix.empty())
      add_prefix(folders, prefix);
  }
  std::istringstream python_path(environment("PYTHONPATH"));
  for (std::string part; std::getline(python_path, part, ':');) {
    if (!part.empty()) folders.emplace_back(part);
  }
  add_python_on_path(folders, environment("PATH"));
  const fs::path home = environment("HOME");
  if (!home.empty()) add_prefix(folders, home / ".local");
  const std::string pyenv = environment("PYENV_ROOT");
  const fs::path versions = (pyenv.empty() ? home / ".pyenv" : fs::path(pyenv)) / "versions";
  for (const fs::path& version : entries(versions, "3")) add_prefix(folders, version);
  add_prefix(folders, "/usr/local");
  add_prefix(folders, "/usr");
  folders.emplace_back("/usr/lib/python3/dist-packages");
  std::vector<fs::path> unique;
  for (const fs::path& folder : folders) {
    if (std::find(unique.begin(), unique.end(), folder) == unique.end()) unique.push_back(folder);
  }
  return unique;
}

std::vector<Candidate> library_candidates(const LibrarySpec& spec, const Environment& environment,
                                          int driver_major) {
  // Whoever names a file wants that file: nothing else is tried.
  if (const std::string named = environment(spec.variable); !named.empty())
    return {{named, str("environment ", spec.variable), false}};
  std::vector<Candidate> list;
  for (const std::string& soname : spec.sonames)
    list.push_back({soname, "already loaded in the process", true});
  if (!spec.wheels.empty()) {
    for (const fs::path& site : site_packages(environment)) {
      for (const std::string& wheel : spec.wheels)
        add_folder(list, spec, site / wheel, str("pip wheel ", spec.wheel_name));
    }
  }
  if (*spec.cache_folder != '\0')
    add_folder(list, spec, cache_dir() / spec.cache_folder, "tilewright's cache folder");
  if (spec.id != LibraryId::kCuda) {
    for (const fs::path& folder : toolkit_folders(environment))
      add_folder(list, spec, folder, "CUDA toolkit");
  }
  for (const std::string& soname : spec.sonames) list.push_back({soname, "system", false});
  if (driver_major > 0) {
    std::stable_sort(list.begin(), list.end(), [&](const Candidate& a, const Candidate& b) {
      const auto too_new = [&](const Candidate& c) {
        const int major = soname_major(c.path);
        return major >= 12 && major > driver_major;
      };
      return !too_new(a) && too_new(b);
    });
  }
  return list;
}

}  // namespace tilewright::detail
