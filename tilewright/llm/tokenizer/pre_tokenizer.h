// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/llm/tokenizer/regex.h"
#include "tilewright/llm/tokenizer/tokenizer_spec.h"

namespace tilewright {

// Cuts normalised text into the pieces that BPE never merges across.
class PreTokenizer {
 public:
  PreTokenizer(const std::vector<PreTokenStep>& steps, std::string_view where);
  // Calls `piece` for each, in order; none is empty. A view is valid during its call.
  void run(std::string_view text, const std::function<void(std::string_view)>& piece) const;

 private:
  struct Step {
    PreTokenStep spec;
    std::vector<Regex> regex;  // one, or none for kPrefixSpace
  };
  void run_from(std::size_t step, std::string_view text,
                const std::function<void(std::string_view)>& piece) const;
  std::vector<Step> steps_;
};

}  // namespace tilewright
