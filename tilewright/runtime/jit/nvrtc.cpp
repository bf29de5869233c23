// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/nvrtc.h"

#include <filesystem>

#include "tilewright/base/error.h"
#include "tilewright/runtime/library.h"

namespace tilewright::jit {
namespace {

using Result = int;
using Program = struct ProgramOpaque*;

#define TW_NVRTC_FUNCTIONS(FUNCTION)                                            \
  FUNCTION(nvrtcGetErrorString, const char*, Result)                            \
  FUNCTION(nvrtcVersion, Result, int*, int*)                                    \
  FUNCTION(nvrtcGetNumSupportedArchs, Result, int*)                             \
  FUNCTION(nvrtcGetSupportedArchs, Result, int*)                                \
  FUNCTION(nvrtcCreateProgram, Result, Program*, const char*, const char*, int, \
           const char* const*, const char* const*)                              \
  FUNCTION(nvrtcDestroyProgram, Result, Program*)                               \
  FUNCTION(nvrtcCompileProgram, Result, Program, int, const char* const*)       \
  FUNCTION(nvrtcAddNameExpression, Result, Program, const char*)                \
  FUNCTION(nvrtcGetLoweredName, Result, Program, const char*, const char**)     \
  FUNCTION(nvrtcGetProgramLogSize, Result, Program, std::size_t*)               \
  FUNCTION(nvrtcGetProgramLog, Result, Program, char*)                          \
  FUNCTION(nvrtcGetCUBINSize, Result, Program, std::size_t*)                    \
  FUNCTION(nvrtcGetCUBIN, Result, Program, char*)

struct Nvrtc {
#define TW_DECLARE(name, result, ...) result (*name)(__VA_ARGS__);
  TW_NVRTC_FUNCTIONS(TW_DECLARE)
#undef TW_DECLARE
};

const Nvrtc& nvrtc() {
  static const Nvrtc table = [] {
    Nvrtc result{};
#define TW_FIND(name, ...) \
  result.name = reinterpret_cast<decltype(result.name)>(library_symbol(LibraryId::kNvrtc, #name));
    TW_NVRTC_FUNCTIONS(TW_FIND)
#undef TW_FIND
    return result;
  }();
  return table;
}

constexpr Result kSuccess = 0, kCompilation = 6;

void check(Result result, const char* call) {
  TW_CHECK(result == kSuccess, Library, "NVRTC at ", library_status(LibraryId::kNvrtc).path, ": ",
           call, " failed: ", nvrtc().nvrtcGetErrorString(result), "; see `tw doctor`");
}

class ProgramOwner {
 public:
  explicit ProgramOwner(const Translation& input) {
    std::vector<const char*> names, texts;
    for (const auto& [name, text] : input.headers) {
      names.push_back(name.c_str());
      texts.push_back(text.c_str());
    }
    check(nvrtc().nvrtcCreateProgram(&program_, input.source.c_str(), input.name.c_str(),
                                     int(names.size()), texts.data(), names.data()),
          "nvrtcCreateProgram");
  }
  ~ProgramOwner() { nvrtc().nvrtcDestroyProgram(&program_); }
  ProgramOwner(const ProgramOwner&) = delete;
  ProgramOwner& operator=(const ProgramOwner&) = delete;
  Program get() const { return program_; }

 private:
  Program program_ = nullptr;
};

std::string log_of(Program program) {
  std::size_t size = 0;
  check(nvrtc().nvrtcGetProgramLogSize(program, &size), "nvrtcGetProgramLogSize");
  std::string log(size, '\0');
  if (size > 0) check(nvrtc().nvrtcGetProgramLog(program, log.data()), "nvrtcGetProgramLog");
  while (!log.empty() && log.back() == '\0') log.pop_back();
  return log;
}

NvrtcInfo read_info() {
  NvrtcInfo info;
  check(nvrtc().nvrtcVersion(&info.major, &info.minor), "nvrtcVersion");
  TW_CHECK(info.major >= 12, Library, "NVRTC at ", library_status(LibraryId::kNvrtc).path, " is ",
           info.major, ".", info.minor, "; wants 12.0 or later");
  int count = 0;
  check(nvrtc().nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
  info.archs.resize(std::size_t(count));
  if (count > 0) check(nvrtc().nvrtcGetSupportedArchs(info.archs.data()), "nvrtcGetSupportedArchs");
  const std::filesystem::path path = library_status(LibraryId::kNvrtc).path;
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  info.build = str(info.major, ".", info.minor, " ", error ? 0 : size);
  return info;
}

}  // namespace

const NvrtcInfo& nvrtc_info() {
  static const NvrtcInfo info = read_info();
  return info;
}

Translated translate(const Translation& input) {
  nvrtc_info();
  const ProgramOwner program(input);
  check(nvrtc().nvrtcAddNameExpression(program.get(), input.expression.c_str()),
        "nvrtcAddNameExpression");
  std::vector<const char*> options;
  for (const std::string& option : input.options) options.push_back(option.c_str());
  const Result result =
      nvrtc().nvrtcCompileProgram(program.get(), int(options.size()), options.data());
  Translated output;
  output.log = log_of(program.get());
  if (result != kSuccess) {
    // A wrong option is in the log as well; anything else is NVRTC's own trouble.
    if (output.log.empty() && result != kCompilation) check(result, "nvrtcCompileProgram");
    if (output.log.empty()) output.log = nvrtc().nvrtcGetErrorString(result);
    return output;
  }
  const char* lowered = nullptr;
  const Result named =
      nvrtc().nvrtcGetLoweredName(program.get(), input.expression.c_str(), &lowered);
  if (named != kSuccess) {
    output.log +=
        str("\nno kernel is named '", input.expression, "': ", nvrtc().nvrtcGetErrorString(named));
    return output;
  }
  output.lowered_name = lowered;
  std::size_t size = 0;
  check(nvrtc().nvrtcGetCUBINSize(program.get(), &size), "nvrtcGetCUBINSize");
  output.cubin.resize(size);
  check(nvrtc().nvrtcGetCUBIN(program.get(), output.cubin.data()), "nvrtcGetCUBIN");
  output.ok = true;
  return output;
}

}  // namespace tilewright::jit
