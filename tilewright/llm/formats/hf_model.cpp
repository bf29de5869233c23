// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tilewright/llm/formats/json_access.h"
#include "tilewright/llm/formats/model_checks.h"
#include "tilewright/llm/formats/model_readers.h"
#include "tilewright/llm/tokenizer/tokenizer_spec.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

std::string read_if_there(const std::filesystem::path& path) {
  return std::filesystem::exists(path) ? read_text_file(path) : std::string();
}

// A template as text, or a list of named ones of which "default" is taken.
std::string pick_template(const Json& value, std::string_view where) {
  if (value.is_string()) return value.get<std::string>();
  TW_CHECK(value.is_array(), Format, where, ": chat_template is ", value.type_name(),
           ", wants a string or a list");
  for (const Json& entry : value) {
    const JsonObject<Json> named(entry, where);
    if (named.text("name", "") == "default") return named.text("template");
  }
  TW_FAIL(NotFound, where, ": no chat template is named default");
}

class HuggingFaceModel : public ModelFiles {
 public:
  explicit HuggingFaceModel(const std::filesystem::path& folder) {
    path_ = folder;
    const auto config_path = folder / "config.json";
    config_ = hugging_face_config(read_text_file(config_path), config_path.string());
    const auto canonical = [architecture = config_.architecture](std::string_view name) {
      return hugging_face_name(architecture, name);
    };
    weights_ = std::make_shared<const SafetensorsFolder>(folder, canonical);
    check_weights(config_, *weights_);
  }

  std::shared_ptr<const Tokenizer> load_tokenizer() const override {
    const auto file = path_ / "tokenizer.json";
    TW_CHECK(std::filesystem::exists(file), NotFound, path_.string(),
             ": no tokenizer: tokenizer.json is not there");
    return std::make_shared<const Tokenizer>(parse_tokenizer_json(
        read_text_file(file), read_if_there(path_ / "tokenizer_config.json"), file.string()));
  }

  std::string chat_template_source() const override {
    if (std::string source = read_if_there(path_ / "chat_template.jinja"); !source.empty()) {
      return source;
    }
    for (const char* name : {"tokenizer_config.json", "chat_template.json"}) {
      const std::string where = (path_ / name).string();
      const std::string text = read_if_there(path_ / name);
      if (text.empty()) continue;
      const auto json = parse_json<Json>(text, where);
      if (const Json* value = json_find(json, "chat_template")) return pick_template(*value, where);
    }
    return {};
  }

  std::vector<std::int32_t> stop_tokens(const Tokenizer& tokenizer) const override {
    std::vector<std::int32_t> stops = tokenizer.end_tokens();
    const auto add = [&](const Json& id, std::string_view where) {
      const std::int64_t number = json_int(id, "eos_token_id", where);
      if (number >= 0 && number < tokenizer.vocab_size()) stops.push_back(std::int32_t(number));
    };
    for (const char* name : {"generation_config.json", "config.json"}) {
      const std::string text = read_if_there(path_ / name);
      if (text.empty()) continue;
      const auto json = parse_json<Json>(text, name);
      const Json* eos = json_find(json, "eos_token_id");
      if (eos == nullptr) continue;
      if (!eos->is_array()) add(*eos, name);
      if (eos->is_array())
        for (const Json& id : *eos) add(id, name);
    }
    return stops;
  }
};

}  // namespace

std::unique_ptr<ModelFiles> open_hugging_face_model(const std::filesystem::path& folder) {
  return std::make_unique<HuggingFaceModel>(folder);
}

}  // namespace tilewright
