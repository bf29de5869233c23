// SPDX-License-Identifier: Apache-2.0
// Compilation needs NVRTC, not a GPU.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/base/files.h"
#include "tilewright/runtime/jit/compile_all.h"
#include "tilewright/runtime/jit/manifest.h"
#include "tilewright/runtime/jit/pack.h"
#include "tilewright/runtime/jit/test_folder.h"
#include "tilewright/runtime/library.h"

namespace tilewright::jit {
namespace {

constexpr Arch kHopper{9, 0, true};
constexpr Arch kAmpere{8, 0, false};
const KernelSpec kCopy{"tilewright/runtime/copy.cuh", "tilewright::copy_strided<4, unsigned int>"};

class NvrtcTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!library_status(LibraryId::kNvrtc).loaded) GTEST_SKIP() << "NVRTC is not installed";
    folder_.hold_cache();
  }
  TestFolder folder_;
};

TEST_F(NvrtcTest, CompilesOurKernelForEveryArchitecture) {
  for (const Arch arch : {Arch{7, 5, false}, kAmpere, kHopper}) {
    const Compiled compiled = compile(library_unit(kCopy, arch));
    EXPECT_TRUE(
        compiled.cubin.starts_with("\x7f"
                                   "ELF"))
        << to_string(arch);
    EXPECT_NE(compiled.lowered_name.find("copy_strided"), std::string::npos);
    EXPECT_GT(compiled.registers, 0);
    EXPECT_EQ(compiled.spill_bytes, 0) << to_string(arch);
  }
}

TEST_F(NvrtcTest, TheSecondTimeComesFromTheCache) {
  bool cached = true;
  const Unit unit = library_unit(kCopy, kHopper);
  const Compiled first = obtain(unit, &cached);
  EXPECT_FALSE(cached);
  const Compiled second = obtain(unit, &cached);
  EXPECT_TRUE(cached);
  EXPECT_EQ(first.cubin, second.cubin);
  obtain(library_unit(kCopy, kAmpere), &cached);
  EXPECT_FALSE(cached) << "the architecture is not part of the key";
}

TEST_F(NvrtcTest, OptionsAndTheirOrderArePartOfTheKey) {
  const std::string source = "__global__ void k() {}";
  std::set<std::string> keys;
  for (const CompileOptions& options :
       {CompileOptions{}, CompileOptions{{}, {"-DA", "-DB"}}, CompileOptions{{}, {"-DB", "-DA"}},
        CompileOptions{{}, {"-DA-DB"}}, CompileOptions{{"/x"}, {}}})
    keys.insert(user_unit(source, "k", kHopper, options).key);
  EXPECT_EQ(keys.size(), 5u);
}

TEST_F(NvrtcTest, CompilesInParallelWithProgress) {
  std::vector<KernelSpec> specs = manifest();
  specs.push_back(specs.front());  // a repeated one is compiled once
  std::set<int> seen;
  int total = 0;
  const auto reports = compile_kernels(specs, kHopper, [&](int done, int all, const KernelSpec&) {
    seen.insert(done);
    total = all;
  });
  EXPECT_EQ(reports.size(), specs.size() - 1);
  EXPECT_EQ(total, int(reports.size()));
  EXPECT_EQ(seen.size(), reports.size());
  for (std::size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].spec, specs[i]);
    EXPECT_FALSE(reports[i].from_cache);
    EXPECT_GT(reports[i].registers, 0);
  }
  for (const KernelReport& report : compile_kernels(specs, kHopper)) EXPECT_TRUE(report.from_cache);
}

TEST_F(NvrtcTest, AnErrorShowsTheLog) {
  try {
    compile(user_unit("__global__ void k() { undeclared(); }", "k", kHopper, {}));
    FAIL() << "nonsense was compiled";
  } catch (const CompileError& error) {
    EXPECT_NE(std::string(error.what()).find("undeclared"), std::string::npos) << error.what();
  }
  try {
    compile(user_unit("__global__ void k() {}", "other", kHopper, {}));
    FAIL() << "a kernel that is not there was found";
  } catch (const CompileError& error) {
    EXPECT_NE(std::string(error.what()).find("other"), std::string::npos) << error.what();
  }
  EXPECT_THROW(library_unit({"tilewright/none.cuh", "k"}, kHopper), NotFound);
  EXPECT_THROW(compile_kernels({kCopy, {kCopy.file, "tilewright::absent"}}, kHopper), CompileError);
}

TEST_F(NvrtcTest, AUsersHeaderIsReadFromItsFolderAndHashed) {
  const auto write = [&](const char* value) {
    std::ofstream(folder_.path() / "mine.h") << "constexpr int kValue = " << value << ";\n";
  };
  const std::string source =
      "#include <mine.h>\n#include \"tilewright/device/core/types.h\"\n"
      "__global__ void k(int* out, tilewright::bf16* b) { *out = kValue; }";
  const CompileOptions options{{folder_.path()}, {}};
  const auto cached = [&] {
    bool from_cache = false;
    obtain(user_unit(source, "k", kHopper, options), &from_cache);
    return from_cache;
  };
  write("1");
  EXPECT_FALSE(cached());
  EXPECT_TRUE(cached());
  write("2");
  EXPECT_FALSE(cached()) << "a changed header gave the old kernel";
}

// They would read files that the key of the cache does not know.
TEST(UserUnit, OptionsThatIncludeAreRefused) {
  for (const char* option :
       {"-I/x", "-I", "--include-path=/x", "-include=a.h", "--pre-include=a.h"}) {
    try {
      user_unit("__global__ void k() {}", "k", kHopper, {{}, {"-DA", option}});
      ADD_FAILURE() << option << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("include_dirs"), std::string::npos);
    }
  }
}

TEST_F(NvrtcTest, RealTimeModeForbidsCompilation) {
  const RealTimeScope scope;
  EXPECT_THROW(compile_kernels({kCopy}, kHopper), InvalidArgument);
}

TEST_F(NvrtcTest, APackIsFoundByWhatItHolds) {
  const auto path = folder_.path() / "tw.pack";
  std::vector<PackEntry> entries;
  for (const BatchResult& result : compile_batch(manifest(), kAmpere, nullptr, obtain))
    entries.push_back(
        {result.unit.key, result.unit.spec, to_string(result.unit.arch), result.compiled});
  write_pack(path, entries);
  const Pack pack(path);
  EXPECT_EQ(pack.entries().size(), entries.size());
  for (const PackEntry& entry : entries)
    EXPECT_EQ(pack.find(entry.key)->cubin, entry.compiled.cubin);
  EXPECT_TRUE(pack.find(library_unit(kCopy, kAmpere).key));
  EXPECT_FALSE(pack.find(library_unit(kCopy, kHopper).key));
}

TEST(Pack, DamageIsNamed) {
  const TestFolder folder;
  const auto path = folder.path() / "p";
  write_pack(path, {{"key", kCopy, "sm_80", {"_Zk", std::string(100, 'x'), 1, 2, 3, 4, 5}}});
  const std::string good = read_text_file(path);
  EXPECT_TRUE(Pack(path).find("key"));
  const auto broken = [&](std::string bytes) {
    write_file_atomic(path, bytes);
    try {
      Pack(path).find("key");
    } catch (const FormatError& error) {
      return std::string(error.what()).find(path.string()) != std::string::npos;
    }
    return false;
  };
  for (std::size_t i = 0; i < good.size(); i += 3) {
    std::string bytes = good;
    bytes[i] = char(bytes[i] ^ 0x20);
    EXPECT_TRUE(broken(bytes)) << "byte " << i;
    EXPECT_TRUE(broken(good.substr(0, i))) << "cut at " << i;
  }
  EXPECT_THROW(Pack(folder.path() / "none"), NotFound);
}

TEST(CollectKernels, RecordsInsteadOfLaunching) {
  const Stream stream(Device::cpu());
  const auto specs = collect_kernels([&] {
    EXPECT_TRUE(collecting_kernels());
    for (int i = 0; i < 2; ++i) launch_bytes(kCopy, {}, stream, nullptr, 0);
  });
  EXPECT_EQ(specs, std::vector<KernelSpec>{kCopy});
  EXPECT_FALSE(collecting_kernels());
  EXPECT_THROW(collect_kernels([] { throw std::runtime_error("x"); }), std::runtime_error);
  EXPECT_FALSE(collecting_kernels());
  EXPECT_THROW(launch_bytes(kCopy, {}, stream, nullptr, 0), Unsupported);
}

}  // namespace
}  // namespace tilewright::jit
