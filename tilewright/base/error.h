// SPDX-License-Identifier: Apache-2.0
// One family of exceptions. Everything that fails throws through throw_error(), which is cold
// and out of line; libraries never print and never exit.
#pragma once

#include <exception>
#include <source_location>
#include <string>

#include "tilewright/base/text.h"

namespace tilewright {

enum class ErrorKind : int {
  kInvalidArgument,  // a caller's value: shape, dtype, option, index
  kFormat,           // a file that is damaged or is not what it should be
  kIo,               // open, read, write, disk full
  kNotFound,         // a file, model, device or library entry that is not there
  kUnsupported,      // well formed, and not implemented here
  kLibrary,          // a shared library that is missing or does not fit
  kDevice,           // the driver or the GPU reported a failure
  kCompile,          // kernel source that did not compile
  kOutOfMemory,      // a device, host or pool limit
  kCancelled,        // stopped on request
  kInternal,         // a broken invariant: a bug of ours
};

// The exit code that `tw` uses for an error of this kind (docs/cli.md lists them).
int exit_code(ErrorKind kind);
const char* name(ErrorKind kind);

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message, std::string where)
      : kind_(kind), message_(std::move(message)), where_(std::move(where)) {}
  ErrorKind kind() const { return kind_; }
  const char* what() const noexcept override { return message_.c_str(); }
  // Source location and failed expression, for a developer; what() is for the user.
  const std::string& where() const { return where_; }

 private:
  ErrorKind kind_;
  std::string message_, where_;
};

// One C++ type a kind, so that a caller can catch just what it can mend.
template <ErrorKind kKind>
class ErrorOf : public Error {
 public:
  ErrorOf(std::string message, std::string where)
      : Error(kKind, std::move(message), std::move(where)) {}
};

using InvalidArgument = ErrorOf<ErrorKind::kInvalidArgument>;
using FormatError = ErrorOf<ErrorKind::kFormat>;
using IoError = ErrorOf<ErrorKind::kIo>;
using NotFound = ErrorOf<ErrorKind::kNotFound>;
using Unsupported = ErrorOf<ErrorKind::kUnsupported>;
using LibraryError = ErrorOf<ErrorKind::kLibrary>;
using DeviceError = ErrorOf<ErrorKind::kDevice>;
using CompileError = ErrorOf<ErrorKind::kCompile>;
using OutOfMemory = ErrorOf<ErrorKind::kOutOfMemory>;
using Cancelled = ErrorOf<ErrorKind::kCancelled>;
using InternalError = ErrorOf<ErrorKind::kInternal>;

[[noreturn, gnu::cold]] void throw_error(
    ErrorKind kind, std::string message, const char* expression = "",
    std::source_location location = std::source_location::current());

}  // namespace tilewright

// TW_CHECK(rows > 0, InvalidArgument, "rms_norm: rows is ", rows, ", wants at least 1");
#define TW_CHECK(condition, kind, ...)                                                            \
  do {                                                                                            \
    if (!(condition)) [[unlikely]]                                                                \
      ::tilewright::throw_error(::tilewright::ErrorKind::k##kind, ::tilewright::str(__VA_ARGS__), \
                                #condition);                                                      \
  } while (0)

// TW_FAIL(Format, path, ": bad magic");
#define TW_FAIL(kind, ...) \
  ::tilewright::throw_error(::tilewright::ErrorKind::k##kind, ::tilewright::str(__VA_ARGS__))
