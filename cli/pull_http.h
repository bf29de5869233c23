// SPDX-License-Identifier: Apache-2.0
// HTTP by libcurl, which is loaded when it is first needed.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tilewright::cli {

struct HttpSettings {
  std::string ca_file;  // empty: libcurl's own
  std::string proxy;    // empty: the environment's http_proxy, https_proxy, no_proxy
};

struct HttpResponse {
  long status = 0;
  std::string url;                             // after redirects
  std::map<std::string, std::string> headers;  // names in lower case
  std::string failure;                         // why the transfer broke; empty when it is whole
  bool may_retry = false;  // the failure may pass: the connection broke, or the server is busy
};

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;
  std::function<void(const HttpResponse&)> on_start;  // status and headers are in, no data yet
  std::function<void(std::span<const std::byte>)> on_data;
  std::function<bool()> cancelled;
};

// Follows redirects. What a callback throws comes out here; Cancelled when `cancelled` said so.
// Throws LibraryError without libcurl.
HttpResponse http_get(const HttpRequest& request, const HttpSettings& settings);

// The URL without a user's name and password, for messages.
std::string without_secrets(std::string url);

}  // namespace tilewright::cli
