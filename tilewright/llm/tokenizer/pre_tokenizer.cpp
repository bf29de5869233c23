// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/tokenizer/pre_tokenizer.h"

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

using Kind = PreTokenStep::Kind;
using Behavior = PreTokenStep::Behavior;

struct Cut {
  std::size_t begin, end;
  bool match;
};

// Every character that is special in a pattern, escaped.
std::string quote(std::string_view literal) {
  std::string out;
  for (const char c : literal) {
    if (std::string_view("\\^$.[]|()?*+{}-#&~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string pattern_of(const PreTokenStep& step) {
  switch (step.kind) {
    case Kind::kRegex: return step.pattern;
    case Kind::kLiteral: return quote(step.pattern);
    case Kind::kDigits: return "\\p{N}";
    case Kind::kDigitRuns: return "\\p{N}+";
    case Kind::kPrefixSpace: break;
  }
  return {};
}

std::vector<Cut> find_cuts(const Regex& regex, std::string_view text, bool invert) {
  std::vector<Cut> cuts;
  std::size_t previous = 0;
  regex.for_each(text, [&](std::size_t begin, std::size_t end) {
    if (begin != previous) cuts.push_back({previous, begin, invert});
    cuts.push_back({begin, end, !invert});
    previous = end;
  });
  if (previous != text.size()) cuts.push_back({previous, text.size(), invert});
  return cuts;
}

// Joins a match to the piece before it, where cuts[0] is the first in that direction.
template <class Join>
std::vector<Cut> merge(const std::vector<Cut>& cuts, const Join& joins, bool backwards) {
  std::vector<Cut> merged;
  bool previous = false;
  for (const Cut& cut : cuts) {
    if (joins(cut.match, previous) && !merged.empty()) {
      (backwards ? merged.back().begin : merged.back().end) = backwards ? cut.begin : cut.end;
    } else {
      merged.push_back(cut);
    }
    previous = cut.match;
  }
  return merged;
}

std::vector<Cut> apply(Behavior behavior, std::vector<Cut> cuts) {
  const auto after_other = [](bool match, bool previous) { return match && !previous; };
  switch (behavior) {
    case Behavior::kIsolated: break;
    case Behavior::kRemoved: std::erase_if(cuts, [](const Cut& cut) { return cut.match; }); break;
    case Behavior::kContiguous:
      return merge(cuts, [](bool match, bool previous) { return match == previous; }, false);
    case Behavior::kMergedWithPrevious: return merge(cuts, after_other, false);
    case Behavior::kMergedWithNext:
      std::reverse(cuts.begin(), cuts.end());
      cuts = merge(cuts, after_other, true);
      std::reverse(cuts.begin(), cuts.end());
  }
  return cuts;
}

}  // namespace

PreTokenizer::PreTokenizer(const std::vector<PreTokenStep>& steps, std::string_view where) {
  for (const PreTokenStep& step : steps) {
    Step compiled{step, {}};
    if (step.kind != Kind::kPrefixSpace) {
      compiled.regex.emplace_back(pattern_of(step), str(where, ": pre-tokeniser"));
    }
    steps_.push_back(std::move(compiled));
  }
}

void PreTokenizer::run(std::string_view text,
                       const std::function<void(std::string_view)>& piece) const {
  run_from(0, text, piece);
}

void PreTokenizer::run_from(std::size_t at, std::string_view text,
                            const std::function<void(std::string_view)>& piece) const {
  if (text.empty()) return;
  if (at == steps_.size()) {
    piece(text);
    return;
  }
  const Step& step = steps_[at];
  if (step.spec.kind == Kind::kPrefixSpace) {
    if (text.front() == ' ') return run_from(at + 1, text, piece);
    return run_from(at + 1, str(' ', text), piece);
  }
  for (const Cut& cut :
       apply(step.spec.behavior, find_cuts(step.regex.front(), text, step.spec.invert))) {
    run_from(at + 1, text.substr(cut.begin, cut.end - cut.begin), piece);
  }
}

}  // namespace tilewright
