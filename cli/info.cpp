// SPDX-License-Identifier: Apache-2.0
#include "info.h"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "terminal.h"
#include "tilewright/base/error.h"
#include "tilewright/base/files.h"
#include "tilewright/runtime/device.h"
#include "tilewright/runtime/jit/pack.h"
#include "tilewright/runtime/library.h"

namespace tilewright::cli {
namespace {

constexpr LibraryId kLibraries[] = {LibraryId::kCuda,  LibraryId::kNvrtc, LibraryId::kCublasLt,
                                    LibraryId::kCudnn, LibraryId::kNccl,  LibraryId::kCupti};

std::vector<Device> devices() {
  std::vector<Device> all{Device::cpu()};
  for (int i = 0; i < device_count(DeviceKind::kCuda); ++i) all.push_back(Device::cuda(i));
  return all;
}

nlohmann::json device_json(Device device) {
  const DeviceProperties& has = properties(device);
  nlohmann::json row{{"device", to_string(device)},
                     {"name", has.name},
                     {"memory_bytes", has.memory_bytes},
                     {"l2_bytes", has.l2_bytes}};
  if (device.is_cpu()) {
    row["threads"] = has.threads;
  } else {
    row["arch"] = to_string(has.arch);
    row["multiprocessors"] = has.multiprocessors;
    row["shared_bytes_per_block"] = has.shared_bytes_per_block;
  }
  return row;
}

nlohmann::json library_json(const LibraryStatus& status) {
  nlohmann::json row{{"name", status.name},
                     {"loaded", status.loaded},
                     {"variable", status.variable},
                     {"tried", status.tried}};
  if (status.loaded) {
    row["path"] = status.path;
    row["version"] = status.version;
    row["found_by"] = status.found_by;
  } else {
    row["remedy"] = status.remedy;
  }
  return row;
}

void print_json() {
  nlohmann::json all{{"devices", nlohmann::json::array()},
                     {"libraries", nlohmann::json::array()},
                     {"cache", cache_dir().string()},
                     {"pack", jit::pack_path()}};
  for (const Device device : devices()) all["devices"].push_back(device_json(device));
  for (const LibraryId id : kLibraries)
    all["libraries"].push_back(library_json(library_status(id)));
  std::cout << json_text(all) << "\n";
}

void print_device(Device device) {
  const DeviceProperties& has = properties(device);
  const double gigabytes = double(has.memory_bytes) / (1 << 30);
  if (device.is_cpu()) {
    std::printf("%-8s %s, %d threads, %.1f GiB\n", "cpu", has.name.c_str(), has.threads, gigabytes);
    return;
  }
  std::printf("%-8s %s, %s, %d multiprocessors, %.1f GiB, L2 %zu MiB\n", to_string(device).c_str(),
              has.name.c_str(), to_string(has.arch).c_str(), has.multiprocessors, gigabytes,
              has.l2_bytes >> 20);
}

void print_library(const LibraryStatus& status) {
  if (status.loaded) {
    std::printf("%-12s %-6s %s (%s)\n", status.name.c_str(), status.version.c_str(),
                status.path.c_str(), status.found_by.c_str());
  } else {
    std::printf("%-12s none   %s\n", status.name.c_str(), status.remedy.c_str());
  }
}

}  // namespace

int run_info(const InfoOptions& options) {
  if (options.json) {
    print_json();
    return 0;
  }
  for (const Device device : devices()) print_device(device);
  std::printf("\n");
  for (const LibraryId id : kLibraries) print_library(library_status(id));
  std::printf("\ncache        %s\n", cache_dir().c_str());
  if (!jit::pack_path().empty()) std::printf("pack         %s\n", jit::pack_path().c_str());
  return 0;
}

}  // namespace tilewright::cli
