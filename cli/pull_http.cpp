// SPDX-License-Identifier: Apache-2.0
#include "cli/pull_http.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <memory>

#include "tilewright/base/error.h"

namespace tilewright::cli {
namespace {

struct Curl {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_setopt) setopt;
  decltype(&::curl_easy_perform) perform;
  decltype(&::curl_easy_getinfo) getinfo;
  decltype(&::curl_easy_strerror) strerror;
  decltype(&::curl_easy_cleanup) cleanup;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
};

constexpr const char* kRemedy =
    "downloads need libcurl: install it (Debian and Ubuntu: the package libcurl4), or name the "
    "library's file in TW_LIBCURL";

void* open_library() {
  if (const char* own = std::getenv("TW_LIBCURL"); own != nullptr && *own != '\0') {
    void* library = ::dlopen(own, RTLD_NOW | RTLD_LOCAL);
    TW_CHECK(library != nullptr, Library, "TW_LIBCURL: cannot load ", own, ": ", ::dlerror(), "; ",
             kRemedy);
    return library;
  }
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"})
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  TW_FAIL(Library, "libcurl.so.4 was not found; ", kRemedy);
}

template <class Function>
void bind(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  TW_CHECK(function != nullptr, Library, "libcurl has no ", name, "; ", kRemedy);
}

Curl load_curl() {
  void* library = open_library();
  Curl curl{};
  bind(library, "curl_global_init", curl.global_init);
  bind(library, "curl_easy_init", curl.easy_init);
  bind(library, "curl_easy_setopt", curl.setopt);
  bind(library, "curl_easy_perform", curl.perform);
  bind(library, "curl_easy_getinfo", curl.getinfo);
  bind(library, "curl_easy_strerror", curl.strerror);
  bind(library, "curl_easy_cleanup", curl.cleanup);
  bind(library, "curl_slist_append", curl.slist_append);
  bind(library, "curl_slist_free_all", curl.slist_free_all);
  curl.global_init(CURL_GLOBAL_DEFAULT);
  return curl;
}

const Curl& curl() {
  static const Curl loaded = load_curl();
  return loaded;
}

// One transfer's state, passed through libcurl's C callbacks. Exceptions wait in `thrown`.
struct Transfer {
  const HttpRequest& request;
  CURL* handle;
  HttpResponse response;
  bool started = false;
  std::exception_ptr thrown;

  void start() {
    if (started) return;
    started = true;
    curl().getinfo(handle, CURLINFO_RESPONSE_CODE, &response.status);
    const char* url = nullptr;
    curl().getinfo(handle, CURLINFO_EFFECTIVE_URL, &url);
    response.url = url == nullptr ? request.url : url;
    if (request.on_start) request.on_start(response);
  }

  // Runs work that may throw; says whether libcurl should go on.
  template <class Work>
  bool guarded(const Work& work) {
    try {
      work();
      return true;
    } catch (...) {
      thrown = std::current_exception();
      return false;
    }
  }
};

std::size_t on_write(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::size_t bytes = size * count;
  const bool going_on = transfer.guarded([&] {
    transfer.start();
    if (transfer.request.on_data)
      transfer.request.on_data(std::as_bytes(std::span<const char>(data, bytes)));
  });
  return going_on ? bytes : 0;
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(data, size * count);
  transfer.guarded([&] {
    if (line.starts_with("HTTP/")) transfer.response.headers.clear();  // a redirect came before
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    transfer.response.headers[name] = trimmed(line.substr(colon + 1));
  });
  return size * count;
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto& transfer = *static_cast<Transfer*>(user);
  return transfer.request.cancelled && transfer.request.cancelled() ? 1 : 0;
}

bool may_pass(CURLcode code) {
  constexpr std::array kPassing{CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_OPERATION_TIMEDOUT,
                                CURLE_GOT_NOTHING,  CURLE_HTTP2,      CURLE_SEND_ERROR,
                                CURLE_HTTP2_STREAM};
  return std::find(kPassing.begin(), kPassing.end(), code) != kPassing.end();
}

void set_options(Transfer& transfer, const HttpSettings& settings, char* error_text) {
  const auto set = [&](CURLoption option, auto value) {
    curl().setopt(transfer.handle, option, value);
  };
  set(CURLOPT_URL, transfer.request.url.c_str());
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_MAXREDIRS, 10L);
  set(CURLOPT_NOSIGNAL, 1L);  // no alarm(): we are a library within a program
  set(CURLOPT_CONNECTTIMEOUT, 30L);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, 60L);
  set(CURLOPT_BUFFERSIZE, 256L * 1024L);
  set(CURLOPT_USERAGENT, "tilewright");
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
  set(CURLOPT_ERRORBUFFER, error_text);
  set(CURLOPT_WRITEFUNCTION, &on_write);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &on_progress);
  set(CURLOPT_XFERINFODATA, static_cast<void*>(&transfer));
  if (!settings.ca_file.empty()) set(CURLOPT_CAINFO, settings.ca_file.c_str());
  if (!settings.proxy.empty()) set(CURLOPT_PROXY, settings.proxy.c_str());
}

void describe_failure(Transfer& transfer, CURLcode code, const char* error_text) {
  HttpResponse& response = transfer.response;
  const bool busy = response.status == 429 || response.status >= 500;
  if (code != CURLE_OK) {
    response.failure = *error_text != '\0' ? error_text : curl().strerror(code);
    response.may_retry = may_pass(code);
  } else if (busy) {
    response.failure = str("the server answered ", response.status);
    response.may_retry = true;
  }
}

}  // namespace

HttpResponse http_get(const HttpRequest& request, const HttpSettings& settings) {
  const std::unique_ptr<CURL, decltype(curl().cleanup)> handle(curl().easy_init(), curl().cleanup);
  TW_CHECK(handle != nullptr, Library, "libcurl could not start; ", kRemedy);
  curl_slist* list = nullptr;
  for (const std::string& header : request.headers)
    list = curl().slist_append(list, header.c_str());
  const std::unique_ptr<curl_slist, decltype(curl().slist_free_all)> headers(list,
                                                                             curl().slist_free_all);
  std::array<char, CURL_ERROR_SIZE> error_text{};
  Transfer transfer{request, handle.get(), {}, false, nullptr};
  set_options(transfer, settings, error_text.data());
  curl().setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  const CURLcode code = curl().perform(handle.get());
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  if (code == CURLE_ABORTED_BY_CALLBACK) TW_FAIL(Cancelled, "stopped");
  if (code == CURLE_OK) transfer.start();  // an answer without a body
  describe_failure(transfer, code, error_text.data());
  return std::move(transfer.response);
}

std::string without_secrets(std::string url) {
  const auto host = url.find("://");
  if (host == std::string::npos) return url;
  const auto end = url.find_first_of("/?#", host + 3);
  const auto at = url.rfind('@', end == std::string::npos ? url.size() : end);
  if (at != std::string::npos && at > host) url.erase(host + 3, at - host - 2);
  return url;
}

}  // namespace tilewright::cli
