// SPDX-License-Identifier: Apache-2.0
// A kernel's parameters, and whether given arguments fit them: pure, so that every refusal is
// tested without a GPU.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/runtime/jit/kernel.h"

namespace tilewright::jit {

struct Parameter {
  std::string type;       // "float const*"; empty when only the size is known
  std::size_t bytes = 0;  // 0: unknown
};
struct Signature {
  std::string kernel;
  std::optional<std::vector<Parameter>> parameters;  // nullopt: nothing is known
};

// The parameter types of a mangled name; nullopt for an extern "C" one.
std::optional<std::vector<std::string>> parameter_types(const std::string& lowered_name);

// What the launch passes: each argument as the kernel's parameter wants it, eight bytes at most.
struct PackedArguments {
  std::vector<std::uint64_t> values;
};
// Throws InvalidArgument naming the kernel, the argument, what it got and what it wants.
PackedArguments pack_arguments(const Signature& signature, Device device,
                               const std::vector<KernelArgument>& arguments);

}  // namespace tilewright::jit
