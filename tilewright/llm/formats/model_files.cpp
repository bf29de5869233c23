// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/formats/model_files.h"

#include "tilewright/base/error.h"
#include "tilewright/llm/formats/model_readers.h"

namespace tilewright {

namespace fs = std::filesystem;

ModelFiles::~ModelFiles() = default;

ChatTemplate ModelFiles::load_chat_template() const {
  std::string source = chat_template_source();
  TW_CHECK(!source.empty(), NotFound, path_.string(),
           ": the model ships no chat template; give the prompt without one");
  return ChatTemplate::parse(std::move(source));
}

std::unique_ptr<ModelFiles> open_model(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return open_gguf_model(path);
  if (fs::exists(path / "config.json")) return open_hugging_face_model(path);
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() == ".gguf") found.push_back(entry.path());
  }
  TW_CHECK(!found.empty(), NotFound, path.string(),
           ": not a model: the folder has neither config.json nor a .gguf file");
  TW_CHECK(found.size() == 1, InvalidArgument, path.string(), ": ", found.size(),
           " .gguf files; name one of them");
  return open_gguf_model(found.front());
}

}  // namespace tilewright
