// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/error.h"
#include "tilewright/base/files.h"
#include "tilewright/llm/engine/engine.h"

namespace tilewright {
namespace {

// A plain name, no path: it must not lead out of the cache.
bool is_name(const std::string& text) {
  return !text.empty() && text.find('/') == std::string::npos && text != "." && text != "..";
}

}  // namespace

std::filesystem::path resolve_model(const std::string& model) {
  std::error_code ignored;
  if (std::filesystem::exists(model, ignored)) return model;
  if (is_name(model)) {
    const std::filesystem::path folder = cache_dir() / "models" / model;
    if (std::filesystem::is_directory(folder, ignored)) return folder;
  }
  TW_FAIL(NotFound, "model '", model, "' is neither a file, a folder, nor a model in ",
          (cache_dir() / "models").string(),
          "; `tw pull smollm2-135m-instruct` fetches one that runs anywhere");
}

}  // namespace tilewright
