// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "tilewright/base/error.h"
#include "tilewright/runtime/library_search.h"

namespace tilewright::detail {
namespace {

namespace fs = std::filesystem;

class LibrarySearch : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / str("tw_library_test_", ::getpid());
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  fs::path touch(const fs::path& below) {
    fs::create_directories((root_ / below).parent_path());
    std::ofstream(root_ / below) << "x";
    return root_ / below;
  }
  Environment environment() {
    return [this](const char* name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::string() : found->second;
    };
  }
  std::vector<Candidate> nvrtc(int driver_major = 0) {
    return library_candidates(library_spec(LibraryId::kNvrtc), environment(), driver_major);
  }
  static std::size_t position(const std::vector<Candidate>& list, const std::string& path) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].path == path) return i;
    }
    return list.size();
  }
  fs::path root_;
  std::map<std::string, std::string> variables_;
};

TEST_F(LibrarySearch, AnEnvironmentVariableIsTheOnlyCandidate) {
  variables_["TW_NVRTC"] = "/some/libnvrtc.so";
  ASSERT_EQ(nvrtc().size(), 1u);
  EXPECT_EQ(nvrtc()[0].path, "/some/libnvrtc.so");
  EXPECT_EQ(nvrtc()[0].found_by, "environment TW_NVRTC");
}

TEST_F(LibrarySearch, WheelsComeBeforeTheToolkitAndTheSystem) {
  const fs::path site = "venv/lib/python3.11/site-packages/nvidia";
  const fs::path wheel13 = touch(site / "cu13/lib/libnvrtc.so.13");
  const fs::path wheel12 = touch(site / "cuda_nvrtc/lib/libnvrtc.so.12");
  const fs::path toolkit = touch("cuda/lib64/libnvrtc.so.13");
  variables_["VIRTUAL_ENV"] = root_ / "venv";
  variables_["CUDA_HOME"] = root_ / "cuda";
  const auto list = nvrtc();
  EXPECT_TRUE(list[0].already_loaded);
  EXPECT_LT(position(list, wheel13), position(list, wheel12));
  EXPECT_LT(position(list, wheel12), position(list, toolkit));
  EXPECT_EQ(list.back().path, "libnvrtc.so.12");
  EXPECT_EQ(list[position(list, wheel13)].found_by, "pip wheel nvidia-cuda-nvrtc");
}

TEST_F(LibrarySearch, AnOldDriverPrefersWhatItCanRun) {
  const fs::path site = "venv/lib/python3.11/site-packages/nvidia";
  const fs::path wheel13 = touch(site / "cu13/lib/libnvrtc.so.13");
  const fs::path toolkit12 = touch("cuda/lib64/libnvrtc.so.12");
  variables_["VIRTUAL_ENV"] = root_ / "venv";
  variables_["CUDA_HOME"] = root_ / "cuda";
  EXPECT_LT(position(nvrtc(12), toolkit12), position(nvrtc(12), wheel13));
  EXPECT_LT(position(nvrtc(13), wheel13), position(nvrtc(13), toolkit12));
}

TEST_F(LibrarySearch, FindsThePythonOfThePathAndOfPyenv) {
  touch("python/bin/python3");
  touch("python/lib/python3.12/site-packages/x");
  touch("pyenv/versions/3.10.1/lib/python3.10/site-packages/x");
  variables_["PATH"] = "/nowhere:" + (root_ / "python/bin").string();
  variables_["PYENV_ROOT"] = root_ / "pyenv";
  const auto folders = site_packages(environment());
  const auto has = [&](const fs::path& folder) {
    return std::find(folders.begin(), folders.end(), folder) != folders.end();
  };
  EXPECT_TRUE(has(root_ / "python/lib/python3.12/site-packages"));
  EXPECT_TRUE(has(root_ / "pyenv/versions/3.10.1/lib/python3.10/site-packages"));
}

TEST(Library, AMissingSymbolNamesLibraryAndRemedy) {
  const LibraryStatus& status = library_status(LibraryId::kNccl);
  try {
    library_symbol(LibraryId::kNccl, "ncclNoSuchFunction");
    FAIL() << "a symbol that does not exist was found";
  } catch (const LibraryError& error) {
    EXPECT_NE(std::string(error.what()).find("NCCL"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(status.remedy), std::string::npos);
  }
}

}  // namespace
}  // namespace tilewright::detail
