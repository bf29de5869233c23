// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/sources.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/base/files.h"
#include "tilewright/base/hash.h"

namespace tilewright::jit {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string_view, std::string_view> texts;
};
// A function's static: registration runs before main, in any order of files.
Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

// Lines that end in a backslash go on with the next.
std::string with_joined_lines(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "\\\n") {
      ++i;
    } else if (text.substr(i, 3) == "\\\r\n") {
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

bool opens_raw_string(const std::string& text, std::size_t quote) {
  if (quote == 0 || text[quote] != '"' || text[quote - 1] != 'R') return false;
  const char before = quote < 2 ? ' ' : text[quote - 2];
  return std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_';
}

// The last character of R"mark(…)mark", from its first quote.
std::size_t end_of_raw_string(const std::string& text, std::size_t quote) {
  const std::size_t open = std::min(text.find('(', quote), text.size());
  const std::string close = str(")", text.substr(quote + 1, open - quote - 1), "\"");
  const std::size_t end = text.find(close, open);
  return end == text.npos ? text.size() : end + close.size() - 1;
}

// Comments become spaces; string literals are kept, so that "//" inside one is no comment.
std::string without_comments(std::string_view text) {
  std::string result = with_joined_lines(text);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const char c = result[i];
    if (opens_raw_string(result, i)) {
      i = end_of_raw_string(result, i);
    } else if (c == '"' || c == '\'') {
      for (++i; i < result.size() && result[i] != c && result[i] != '\n'; ++i) {
        if (result[i] == '\\') ++i;
      }
    } else if (result.compare(i, 2, "//") == 0) {
      for (; i < result.size() && result[i] != '\n'; ++i) result[i] = ' ';
    } else if (result.compare(i, 2, "/*") == 0) {
      const std::size_t end = std::min(result.find("*/", i + 2), result.size());
      for (; i < std::min(end + 2, result.size()); ++i) {
        if (result[i] != '\n') result[i] = ' ';
      }
      --i;
    }
  }
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

void scan_line(std::string_view line, IncludeScan& scan) {
  line = trimmed(line);
  if (!line.starts_with('#')) return;
  line = trimmed(line.substr(1));
  if (!line.starts_with("include")) return;
  line = trimmed(line.substr(7));
  const char close = line.starts_with('<') ? '>' : line.starts_with('"') ? '"' : '\0';
  const auto end = close == '\0' ? line.npos : line.find(close, 1);
  if (end == line.npos) {
    scan.computed = true;
    return;
  }
  scan.includes.push_back({std::string(line.substr(1, end - 1)), close == '"'});
}

class Walker {
 public:
  explicit Walker(const std::vector<std::string>& folders) : folders_(folders) {}

  // `folder`: of the including file on disk; empty for text in memory.
  void visit(std::string_view text, const std::filesystem::path& folder) {
    const IncludeScan scan = scan_includes(text);
    if (scan.computed) closure.complete = false;
    for (const Include& include : scan.includes) resolve(include, folder);
  }

  void add(std::string_view label, std::string_view text) {
    hash_.update(str(label.size(), ":", label, ":", text.size(), ":"));
    hash_.update(text);
  }

  Closure finish() {
    closure.hash = hash_.hex_digest();
    return std::move(closure);
  }

 private:
  void resolve(const Include& include, const std::filesystem::path& folder) {
    if (const auto embedded = find_source(include.name)) {
      if (!seen_.insert(include.name).second) return;
      closure.headers.emplace_back(include.name, std::string(*embedded));
      add(include.name, *embedded);
      return visit(*embedded, {});
    }
    std::vector<std::filesystem::path> places;
    if (include.quoted && !folder.empty()) places.push_back(folder / include.name);
    for (const std::string& place : folders_)
      places.push_back(std::filesystem::path(place) / include.name);
    for (const std::filesystem::path& place : places) {
      std::error_code error;
      if (!std::filesystem::is_regular_file(place, error)) continue;
      if (!seen_.insert(place.string()).second) return;
      const std::string text = read_text_file(place);
      add(place.string(), text);
      return visit(text, place.parent_path());
    }
    // The compiler will say so if it needs the file; once it exists, the hash differs.
    if (seen_.insert(include.name).second) add(include.name, "(absent)");
  }

  const std::vector<std::string>& folders_;
  std::set<std::string> seen_;
  Sha256 hash_;
  Closure closure;
};

}  // namespace

void register_sources(std::span<const EmbeddedSource> sources) {
  const std::lock_guard lock(registry().mutex);
  for (const EmbeddedSource& source : sources) registry().texts[source.path] = source.text;
}

std::optional<std::string_view> find_source(std::string_view path) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().texts.find(path);
  if (found == registry().texts.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string_view> source_paths() {
  const std::lock_guard lock(registry().mutex);
  std::vector<std::string_view> paths;
  for (const auto& [path, text] : registry().texts) paths.push_back(path);
  return paths;
}

IncludeScan scan_includes(std::string_view text) {
  const std::string code = without_comments(text);
  IncludeScan scan;
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    scan_line(std::string_view(code).substr(begin, end - begin), scan);
    begin = end + 1;
  }
  return scan;
}

Closure close_over(std::string_view source, const std::vector<std::string>& folders) {
  Walker walker(folders);
  walker.add("", source);
  walker.visit(source, {});
  return walker.finish();
}

}  // namespace tilewright::jit
