// SPDX-License-Identifier: Apache-2.0
#include "cli/pull_index.h"

#include <cctype>
#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"

namespace tilewright::cli {
namespace {

bool has_scheme(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  for (const char c : text.substr(0, colon))
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '+' && c != '-' && c != '.')
      return false;
  return true;
}

// Takes "." and ".." out of a path that starts with a slash.
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  bool ends_in_folder = false;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t next = std::min(path.find('/', at + 1), path.size());
    const std::string_view part = path.substr(at + 1, next - at - 1);
    ends_in_folder = part == "." || part == "..";
    if (part == ".." && !kept.empty()) kept.pop_back();
    if (!ends_in_folder) kept.push_back(part);
    at = next;
  }
  std::string out;
  for (const std::string_view part : kept) out.append("/").append(part);
  return ends_in_folder || out.empty() ? out + "/" : out;
}

// Of the entities only this one occurs in a URL.
std::string with_plain_ampersands(std::string_view text) {
  constexpr std::string_view kEntity = "&amp;";
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    out += text[at];
    if (text.substr(at, kEntity.size()) == kEntity) at += kEntity.size() - 1;
  }
  return out;
}

// "name" of https://host/a/name?query#fragment, with %2B and the like left as they are.
std::string_view file_name(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  return url.substr(url.rfind('/') + 1);
}

IndexFile split_hash(std::string url) {
  IndexFile file;
  const auto fragment = url.find('#');
  if (fragment != std::string::npos) {
    constexpr std::string_view kHash = "#sha256=";
    if (url.compare(fragment, kHash.size(), kHash) == 0)
      file.sha256 = url.substr(fragment + kHash.size(), 64);
    url.erase(fragment);
  }
  file.url = std::move(url);
  return file;
}

std::optional<IndexFile> find_in_json(const std::string& page, const std::string& page_url,
                                      std::string_view wanted) {
  const auto json = nlohmann::json::parse(page, nullptr, false);
  TW_CHECK(json.is_object() && json.contains("files") && json["files"].is_array(), Format, page_url,
           ": not a package index: no JSON object with a list 'files'");
  for (const auto& entry : json["files"]) {
    if (!entry.is_object() || entry.value("filename", nlohmann::json()) != wanted) continue;
    const auto url = entry.find("url");
    TW_CHECK(url != entry.end() && url->is_string(), Format, page_url, ": ", wanted,
             " has no text 'url'");
    IndexFile file = split_hash(resolve_url(page_url, url->get<std::string>()));
    const auto hashes = entry.value("hashes", nlohmann::json::object());
    if (hashes.is_object() && hashes.contains("sha256") && hashes["sha256"].is_string())
      file.sha256 = hashes["sha256"].get<std::string>();
    return file;
  }
  return std::nullopt;
}

// Index pages are plain lists of <a href="…">: a search for the attribute is enough.
std::optional<IndexFile> find_in_html(const std::string& page, const std::string& page_url,
                                      std::string_view wanted) {
  for (auto at = page.find("href="); at != std::string::npos; at = page.find("href=", at)) {
    at += 5;
    if (at >= page.size() || (page[at] != '"' && page[at] != '\'')) continue;
    const auto end = page.find(page[at], at + 1);
    if (end == std::string::npos) break;
    const std::string_view quoted = std::string_view(page).substr(at + 1, end - at - 1);
    const std::string link = with_plain_ampersands(quoted);
    if (file_name(link) == wanted) return split_hash(resolve_url(page_url, link));
    at = end;
  }
  return std::nullopt;
}

}  // namespace

std::string resolve_url(const std::string& base, const std::string& link) {
  if (has_scheme(link)) return link;
  const auto scheme_end = base.find("://");
  if (scheme_end == std::string::npos) return link;
  if (link.starts_with("//")) return base.substr(0, scheme_end + 1) + link;
  const auto path_at = std::min(base.find_first_of("/?#", scheme_end + 3), base.size());
  const std::string host = base.substr(0, path_at);
  std::string path = base.substr(path_at);
  path = path.substr(0, path.find_first_of("?#"));
  if (link.empty()) return host + path;
  const auto tail_at = std::min(link.find_first_of("?#"), link.size());
  const std::string tail = link.substr(tail_at), target = link.substr(0, tail_at);
  if (target.starts_with('/')) return host + without_dots(target) + tail;
  if (target.empty()) return host + path + tail;
  const auto last = path.rfind('/');
  const std::string folder = last == std::string::npos ? "/" : path.substr(0, last + 1);
  return host + without_dots(folder + target) + tail;
}

std::string package_page(const std::string& index_url, std::string_view package) {
  std::string name;
  for (const char c : package) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (!separator)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.ends_with('-'))
      name += '-';
  }
  std::string base = index_url;
  while (base.ends_with('/')) base.pop_back();
  return base + "/" + name + "/";
}

std::optional<IndexFile> find_on_page(const std::string& page, const std::string& content_type,
                                      const std::string& page_url, std::string_view file) {
  return content_type.find("json") != std::string::npos ? find_in_json(page, page_url, file)
                                                        : find_in_html(page, page_url, file);
}

}  // namespace tilewright::cli
