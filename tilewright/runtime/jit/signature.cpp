// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/signature.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace tilewright::jit {
namespace {

// Splits at commas outside brackets.
std::vector<std::string> split_types(std::string_view list) {
  std::vector<std::string> types;
  std::string current;
  int depth = 0;
  const auto flush = [&] {
    while (!current.empty() && current.front() == ' ') current.erase(0, 1);
    if (!current.empty()) types.push_back(current);
    current.clear();
  };
  for (const char c : list) {
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      flush();
    } else {
      current += c;
    }
  }
  flush();
  return types;
}

}  // namespace

std::optional<std::vector<std::string>> parameter_types(const std::string& lowered_name) {
  if (!lowered_name.starts_with("_Z")) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(lowered_name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !text) return std::nullopt;
  const std::string_view name = text.get();
  if (!name.ends_with(')')) return std::nullopt;
  // The parameter list is the last bracket pair: walk back to where it opens.
  int depth = 0;
  std::size_t begin = name.size();
  do {
    --begin;
    if (name[begin] == ')') ++depth;
    if (name[begin] == '(') --depth;
  } while (depth > 0 && begin > 0);
  auto types = split_types(name.substr(begin + 1, name.size() - begin - 2));
  if (types.size() == 1 && types[0] == "void") types.clear();
  return types;
}

}  // namespace tilewright::jit
