// SPDX-License-Identifier: Apache-2.0
// pip's settings files and variables: what of them bears on a download.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>

#include "cli/pull_index.h"
#include "tilewright/base/error.h"
#include "tilewright/base/files.h"

namespace tilewright::cli {
namespace {

using Values = std::map<std::string, std::string>;

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string key_of(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return c == '_' ? '-' : static_cast<char>(std::tolower(c));
  });
  return text;
}

// Python's configparser: [section], key = value or key: value, indented lines go on with a value.
std::map<std::string, Values> parse_config(const std::string& text) {
  std::map<std::string, Values> sections;
  std::istringstream lines(text);
  std::string line, section, key;
  while (std::getline(lines, line)) {
    const std::string content = trimmed(line);
    if (content.empty() || content[0] == '#' || content[0] == ';') continue;
    if (content.front() == '[' && content.back() == ']') {
      section = content.substr(1, content.size() - 2);
      key.clear();
    } else if ((line[0] == ' ' || line[0] == '\t') && !key.empty()) {
      sections[section][key] += "\n" + content;
    } else if (const auto split = content.find_first_of("=:"); split != std::string::npos) {
      key = key_of(trimmed(content.substr(0, split)));
      sections[section][key] = trimmed(content.substr(split + 1));
    }
  }
  return sections;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> out;
  for (std::string word; stream >> word;) out.push_back(word);
  return out;
}

bool is_true(const std::string& text) {
  const std::string lower = key_of(text);
  return lower == "1" || lower == "true" || lower == "yes" || lower == "on";
}

// The value of the strongest place that has one.
std::string value_of(const std::vector<std::map<std::string, Values>>& files, const char* key,
                     const char* variable, const Environment& environment) {
  if (std::string value = environment(variable); !value.empty()) return value;
  std::string value;
  for (const char* section : {"global", "download"}) {
    for (const auto& file : files) {
      const auto values = file.find(section);
      if (values == file.end()) continue;
      if (const auto found = values->second.find(key); found != values->second.end())
        value = found->second;
    }
  }
  return value;
}

}  // namespace

Environment process_environment() {
  return [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
}

std::vector<std::filesystem::path> pip_config_files(const Environment& environment) {
  namespace fs = std::filesystem;
  const std::string own = environment("PIP_CONFIG_FILE"), home = environment("HOME");
  if (own == "/dev/null") return {};  // pip's own way to ask for no file at all
  std::vector<fs::path> files{"/etc/xdg/pip/pip.conf", "/etc/pip.conf"};
  if (!home.empty()) files.push_back(fs::path(home) / ".pip/pip.conf");
  const std::string xdg = environment("XDG_CONFIG_HOME");
  if (!xdg.empty())
    files.push_back(fs::path(xdg) / "pip/pip.conf");
  else if (!home.empty())
    files.push_back(fs::path(home) / ".config/pip/pip.conf");
  if (const std::string venv = environment("VIRTUAL_ENV"); !venv.empty())
    files.push_back(fs::path(venv) / "pip.conf");
  if (!own.empty()) files.push_back(own);
  return files;
}

std::string pip_default_index() {
  constexpr const char* kAsk =
      "python3 -c 'from pip._internal.models.index import PyPI; print(PyPI.simple_url)' "
      "2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> answer(::popen(kAsk, "r"), ::pclose);
  char line[512];
  if (!answer || std::fgets(line, sizeof(line), answer.get()) == nullptr) return {};
  return trimmed(std::string(line, std::strcspn(line, "\n")));
}

PipSettings pip_settings(const std::vector<std::filesystem::path>& paths,
                         const Environment& environment,
                         const std::function<std::string()>& default_index) {
  std::vector<std::map<std::string, Values>> files;
  for (const auto& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    files.push_back(parse_config(read_text_file(path, std::size_t{1} << 20)));
  }
  const auto value = [&](const char* key, const char* variable) {
    return value_of(files, key, variable, environment);
  };
  PipSettings settings;
  if (!is_true(value("no-index", "PIP_NO_INDEX"))) {
    const std::string index = value("index-url", "PIP_INDEX_URL");
    settings.index_urls = {index.empty() ? default_index() : index};
    TW_CHECK(!settings.index_urls[0].empty(), NotFound,
             "no package index is set, and pip is not there to name its own; install python3-pip, "
             "or set PIP_INDEX_URL");
    for (const std::string& url : words(value("extra-index-url", "PIP_EXTRA_INDEX_URL")))
      settings.index_urls.push_back(url);
  }
  settings.find_links = words(value("find-links", "PIP_FIND_LINKS"));
  settings.proxy = value("proxy", "PIP_PROXY");
  settings.cert = value("cert", "PIP_CERT");
  for (const char* variable : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (settings.cert.empty()) settings.cert = environment(variable);
  return settings;
}

}  // namespace tilewright::cli
