// SPDX-License-Identifier: Apache-2.0
// Where the user's pip would look for a package: settings, and the index page of a package.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::cli {

using Environment = std::function<std::string(const char*)>;  // "" for a variable that is not set
Environment process_environment();

struct PipSettings {
  std::vector<std::string> index_urls;  // the main one first
  std::vector<std::string> find_links;  // folders or pages that hold files
  std::string cert, proxy;
};

// The files that pip reads, the weakest first.
std::vector<std::filesystem::path> pip_config_files(const Environment& environment);
// The index that pip uses when none is set: python3's pip is asked. Empty without pip.
std::string pip_default_index();
// What `pip download` would use: [global], then [download], of each file, then PIP_… variables.
// Throws NotFound when no index is set and there is no default.
PipSettings pip_settings(const std::vector<std::filesystem::path>& files,
                         const Environment& environment,
                         const std::function<std::string()>& default_index = pip_default_index);

struct IndexFile {
  std::string url;
  std::string sha256;  // empty when the index does not say
};

// Finds a file on the page of a package: JSON (PEP 691) or HTML (PEP 503). `page_url` resolves
// relative links. Throws FormatError when JSON was promised and does not parse.
std::optional<IndexFile> find_on_page(const std::string& page, const std::string& content_type,
                                      const std::string& page_url, std::string_view file);

// Resolves a link as a browser would (RFC 3986, section 5.2).
std::string resolve_url(const std::string& base, const std::string& link);
// The address of a package's page: lower case, runs of - _ . become one - (PEP 503).
std::string package_page(const std::string& index_url, std::string_view package);

}  // namespace tilewright::cli
