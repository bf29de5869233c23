// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/unit.h"

#include <chrono>

#include "tilewright/base/error.h"
#include "tilewright/base/hash.h"
#include "tilewright/runtime/jit/disk_cache.h"
#include "tilewright/runtime/jit/pack.h"
#include "tilewright/runtime/jit/sources.h"

namespace tilewright::jit {
namespace {

constexpr const char* kFormatVersion = "1";

std::vector<std::string> base_options(Arch arch) {
  return {str("--gpu-architecture=", to_string(arch)), "--std=c++20", "--no-source-include",
          "--generate-line-info", "--ptxas-options=-v"};
}

// Fields with their lengths, so that no two lists give the same text.
std::string hashed(const std::vector<std::string>& fields) {
  Sha256 hash;
  for (const std::string& field : fields) {
    hash.update(str(field.size(), ":"));
    hash.update(field);
  }
  return hash.hex_digest();
}

void finish(Unit& unit, Closure closure) {
  unit.translation.headers = std::move(closure.headers);
  unit.cacheable = closure.complete;
  std::vector<std::string> fields{closure.hash, unit.spec.expression, to_string(unit.arch)};
  for (const std::string& option : unit.translation.options) fields.push_back(option);
  unit.key = hashed(fields);
}

// What the compiler reads must be known to the key, so folders and files come by their own names.
void check_option(const std::string& option) {
  for (const char* start : {"-I", "--include-path", "-include", "--pre-include"}) {
    TW_CHECK(!option.starts_with(start), InvalidArgument, "CompileOptions::options: got '", option,
             "'; name include folders in include_dirs, and include files in the source");
  }
}

std::string cache_key(const Unit& unit) {
  return hashed({kFormatVersion, unit.key, nvrtc_info().build});
}

}  // namespace

Unit library_unit(const KernelSpec& spec, Arch arch) {
  TW_CHECK(find_source(spec.file).has_value(), NotFound, "kernel file ", spec.file,
           " is not part of this program (", source_paths().size(), " are)");
  Unit unit;
  unit.spec = spec;
  unit.arch = arch;
  unit.translation.source = str("#include \"", spec.file, "\"\n");
  unit.translation.name = "tilewright_kernel.cu";
  unit.translation.expression = spec.expression;
  unit.translation.options = base_options(arch);
  finish(unit, close_over(unit.translation.source));
  return unit;
}

Unit user_unit(const std::string& source, const std::string& expression, Arch arch,
               const CompileOptions& options) {
  Unit unit;
  unit.ours = false;
  unit.spec = {"", expression};
  unit.arch = arch;
  unit.translation.source = source;
  unit.translation.name = "kernel.cu";
  unit.translation.expression = expression;
  unit.translation.options = base_options(arch);
  for (const std::string& folder : options.include_dirs)
    unit.translation.options.push_back("--include-path=" + folder);
  for (const std::string& option : options.options) {
    check_option(option);
    unit.translation.options.push_back(option);
  }
  finish(unit, close_over(source, options.include_dirs));
  return unit;
}

Compiled compile(const Unit& unit) {
  const auto begin = std::chrono::steady_clock::now();
  Translated output = translate(unit.translation);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const char* origin = unit.ours ? unit.spec.file.c_str() : "the kernel source";
  TW_CHECK(output.ok, Compile, unit.spec.expression, " of ", origin, " does not compile for ",
           to_string(unit.arch), ":\n", output.log);
  const Resources resources = parse_ptxas_log(output.log);
  TW_CHECK(!unit.ours || resources.performance_losses.empty(), Compile, unit.spec.expression,
           " of ", origin, ": the assembler gave up an optimisation:\n",
           resources.performance_losses.front());
  return {std::move(output.lowered_name),
          std::move(output.cubin),
          resources.registers,
          resources.spill_bytes,
          resources.shared_bytes,
          resources.stack_bytes,
          took.count()};
}

Compiled obtain(const Unit& unit, bool* from_cache) {
  if (from_cache != nullptr) *from_cache = true;
  if (const Pack* pack = process_pack()) {
    if (auto found = pack->find(unit.key)) return *std::move(found);
  }
  const DiskCache cache = process_cache();
  const std::string key = cache_key(unit);
  if (unit.cacheable) {
    if (auto found = cache.find(key)) return *std::move(found);
  }
  if (from_cache != nullptr) *from_cache = false;
  Compiled compiled = compile(unit);
  if (unit.cacheable) cache.store(key, compiled);
  return compiled;
}

}  // namespace tilewright::jit
