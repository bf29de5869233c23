// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/llama_cpp_fixture.h"

#include <nlohmann/json.hpp>

#include "tilewright/base/files.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

LlamaCppPrompt read_prompt(const Json& json) {
  LlamaCppPrompt prompt{json.at("name"),          json.at("text"),           json.at("tokens"),
                        json.at("prompt_tokens"), json.at("first_position"), {}};
  for (std::size_t i = 0; i < json.at("top_ids").size(); ++i) {
    prompt.positions.push_back({json.at("top_ids").at(i), json.at("exact").at(i),
                                json.at("as_shipped").at(i), json.at("as_shipped_argmax").at(i)});
  }
  return prompt;
}

}  // namespace

LlamaCppFixture read_llama_cpp_fixture(const std::string& path) {
  const Json json = Json::parse(read_text_file(path));
  const Json& shipped = json.at("as_shipped_against_exact");
  LlamaCppFixture fixture{
      json.at("vocab"), shipped.at("argmax_agrees"), shipped.at("rms_difference_of_logits"), {}};
  for (const Json& prompt : json.at("prompts")) fixture.prompts.push_back(read_prompt(prompt));
  return fixture;
}

}  // namespace tilewright
