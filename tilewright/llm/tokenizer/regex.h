// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tilewright {

// White space as Unicode defines it, for the inside of a character class. PCRE2's own \s has
// U+180E as well, which is none since Unicode 6.3.
inline constexpr std::string_view kWhiteSpaceClass =
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"
    "\\x{205f}\\x{3000}";

// A compiled pattern over valid UTF-8, with the meaning that Oniguruma gives it. Thread-safe.
class Regex {
 public:
  // Throws FormatError when it does not compile, Unsupported naming an escape that means
  // something else in the two libraries. `where` starts the message.
  Regex(std::string_view pattern, std::string_view where);

  // Calls `found` with begin and end of each match, left to right, not overlapping. Throws
  // Unsupported when the pattern backtracks without end.
  void for_each(std::string_view text,
                const std::function<void(std::size_t, std::size_t)>& found) const;

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
  std::string where_;
};

}  // namespace tilewright
