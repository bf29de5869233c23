// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/error.h"

#include <array>
#include <utility>

namespace tilewright {
namespace {

struct KindInfo {
  const char* name;
  int exit_code;
};

constexpr std::array<KindInfo, 11> kKinds{{{"invalid argument", 2},
                                           {"bad format", 3},
                                           {"i/o error", 4},
                                           {"not found", 5},
                                           {"unsupported", 6},
                                           {"library problem", 7},
                                           {"device failure", 8},
                                           {"compile error", 9},
                                           {"out of memory", 10},
                                           {"cancelled", 130},
                                           {"internal error", 70}}};

template <std::size_t... kIndex>
[[noreturn]] void throw_kind(ErrorKind kind, std::string message, std::string where,
                             std::index_sequence<kIndex...>) {
  ((static_cast<std::size_t>(kind) == kIndex
        ? throw ErrorOf<static_cast<ErrorKind>(kIndex)>(std::move(message), std::move(where))
        : void()),
   ...);
  throw Error(ErrorKind::kInternal, std::move(message), std::move(where));
}

}  // namespace

int exit_code(ErrorKind kind) { return kKinds.at(static_cast<std::size_t>(kind)).exit_code; }
const char* name(ErrorKind kind) { return kKinds.at(static_cast<std::size_t>(kind)).name; }

void throw_error(ErrorKind kind, std::string message, const char* expression,
                 std::source_location location) {
  std::string where = str(location.file_name(), ":", location.line());
  if (*expression != '\0') where += str(" (", expression, ")");
  throw_kind(kind, std::move(message), std::move(where), std::make_index_sequence<kKinds.size()>());
}

}  // namespace tilewright
