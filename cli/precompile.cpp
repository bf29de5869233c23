// SPDX-License-Identifier: Apache-2.0
#include "precompile.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "terminal.h"
#include "tilewright/base/error.h"
#include "tilewright/runtime/jit/compile_all.h"
#include "tilewright/runtime/jit/manifest.h"
#include "tilewright/runtime/jit/pack.h"

namespace tilewright::cli {
namespace {

std::vector<Arch> parse_archs(const std::vector<std::string>& words) {
  std::vector<Arch> archs;
  for (const std::string& word : words) {
    std::istringstream parts(word);
    for (std::string part; std::getline(parts, part, ',');) archs.push_back(Arch::parse(part));
  }
  TW_CHECK(!archs.empty(), InvalidArgument,
           "precompile: no architecture; name some, such as --arch sm_90a,sm_80");
  return archs;
}

// The kernels whose expression contains a match of one of the patterns; all without patterns.
class Choice {
 public:
  explicit Choice(const std::vector<std::string>& patterns) {
    for (const std::string& text : patterns) {
      try {
        patterns_.push_back({text, std::regex(text)});
      } catch (const std::regex_error& error) {
        TW_FAIL(InvalidArgument, "precompile: --only: '", text,
                "' is not a regular expression: ", error.what());
      }
    }
    const std::vector<KernelSpec> all = manifest();
    for (const Pattern& pattern : patterns_) {
      const auto matches = [&](const KernelSpec& spec) { return pattern.matches(spec); };
      TW_CHECK(std::any_of(all.begin(), all.end(), matches), InvalidArgument,
               "precompile: --only: no kernel matches '", pattern.text,
               "'; `tw precompile --list` names them all");
    }
  }

  bool has(const KernelSpec& spec) const {
    const auto matches = [&](const Pattern& pattern) { return pattern.matches(spec); };
    return patterns_.empty() || std::any_of(patterns_.begin(), patterns_.end(), matches);
  }
  std::vector<KernelSpec> specs() const {
    std::vector<KernelSpec> chosen = manifest();
    std::erase_if(chosen, [&](const KernelSpec& spec) { return !has(spec); });
    return chosen;
  }

 private:
  struct Pattern {
    std::string text;
    std::regex regex;
    bool matches(const KernelSpec& spec) const { return std::regex_search(spec.expression, regex); }
  };
  std::vector<Pattern> patterns_;
};

int list_kernels(const Choice& choice, bool json) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ManifestEntry& entry : manifest_by_op()) {
    for (const KernelSpec& spec : entry.specs) {
      if (!choice.has(spec)) continue;
      rows.push_back({{"op", entry.op}, {"file", spec.file}, {"expression", spec.expression}});
      if (!json) std::printf("%-14s %s\n", entry.op.c_str(), spec.expression.c_str());
    }
  }
  if (json) std::cout << json_text(nlohmann::json{{"kernels", rows}}) << "\n";
  return 0;
}

void show_progress(int done, int total, const KernelSpec& current) {
  check_interrupted("compiling");
  if (!is_terminal(STDERR_FILENO)) return;
  std::fprintf(stderr, "\r\033[K%d/%d %.100s", done, total, current.expression.c_str());
  if (done == total) std::fprintf(stderr, "\r\033[K");
}

nlohmann::json row_of(const jit::PackEntry& entry) {
  return {{"arch", entry.arch},
          {"file", entry.spec.file},
          {"expression", entry.spec.expression},
          {"registers", entry.compiled.registers},
          {"spill_bytes", entry.compiled.spill_bytes},
          {"shared_bytes", entry.compiled.shared_bytes},
          {"stack_bytes", entry.compiled.stack_bytes},
          {"cubin_bytes", entry.compiled.cubin.size()},
          {"compile_ms", entry.compiled.compile_milliseconds}};
}

void print_row(const jit::PackEntry& entry) {
  const jit::Compiled& code = entry.compiled;
  std::printf("%-8s %4d registers %5d spilled %6d shared  %s\n", entry.arch.c_str(), code.registers,
              code.spill_bytes, code.shared_bytes, entry.spec.expression.c_str());
}

}  // namespace

int run_precompile(const PrecompileOptions& options) {
  const Choice choice(options.only);
  if (options.list) return list_kernels(choice, options.json);
  TW_CHECK(!options.out.empty(), InvalidArgument, "precompile: --out FILE is missing");
  const auto folder = std::filesystem::absolute(options.out).parent_path();
  TW_CHECK(std::filesystem::is_directory(folder), NotFound,
           "precompile: --out: there is no folder ", folder.string());
  std::vector<jit::PackEntry> entries;
  for (const Arch arch : parse_archs(options.archs)) {
    for (jit::BatchResult& result :
         jit::compile_batch(choice.specs(), arch, show_progress, jit::obtain))
      entries.push_back(
          {result.unit.key, result.unit.spec, to_string(arch), std::move(result.compiled)});
  }
  jit::write_pack(options.out, entries);
  nlohmann::json rows = nlohmann::json::array();
  for (const jit::PackEntry& entry : entries) {
    if (options.json)
      rows.push_back(row_of(entry));
    else
      print_row(entry);
  }
  const auto bytes = std::filesystem::file_size(options.out);
  if (options.json) {
    const nlohmann::json all{{"file", options.out}, {"bytes", bytes}, {"kernels", rows}};
    std::cout << json_text(all) << "\n";
  } else {
    std::printf("%zu kernels, %.1f MB in %s\n", entries.size(), double(bytes) / 1e6,
                options.out.c_str());
  }
  return 0;
}

}  // namespace tilewright::cli
