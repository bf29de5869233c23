// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/diagnosis.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tilewright/base/error.h"
#include "tilewright/runtime/stream.h"

namespace tilewright {
namespace {

LibraryStatus found(const char* version) {
  LibraryStatus status;
  status.loaded = true;
  status.path = "/lib/there.so";
  status.version = version;
  status.found_by = "system";
  status.remedy = "install it";
  return status;
}

LibraryStatus missing() {
  LibraryStatus status;
  status.tried = {"libthere.so: cannot open"};
  status.remedy = "install it";
  return status;
}

// An H200 with matching driver and NVRTC; each test spoils one thing.
MachineFacts healthy() {
  MachineFacts facts;
  facts.driver = found("13.0");
  facts.driver_version = 13000;
  facts.nvrtc = found("13.0");
  facts.nvrtc_version = 13000;
  facts.nvrtc_archs = {75, 80, 86, 89, 90, 100};
  facts.gpu_on_bus = true;
  facts.gpus = {{"NVIDIA H200", {9, 0, true}}};
  return facts;
}

// The one finding that is not ok; its subject, or "" when all is well.
std::string trouble(const MachineFacts& facts, Finding* which = nullptr) {
  std::string subjects;
  for (const Finding& finding : diagnose(facts)) {
    EXPECT_EQ(finding.ok, finding.remedy.empty()) << finding.subject;
    if (finding.ok) continue;
    subjects += finding.subject;
    if (which != nullptr) *which = finding;
  }
  return subjects;
}

TEST(Diagnosis, AHealthyMachineHasNoTrouble) { EXPECT_EQ(trouble(healthy()), ""); }

TEST(Diagnosis, AMachineWithoutGpuIsFine) {
  MachineFacts facts;
  facts.driver = facts.nvrtc = missing();
  EXPECT_EQ(trouble(facts), "");
  EXPECT_NE(diagnose(facts)[1].state.find("cpu only"), std::string::npos);
}

TEST(Diagnosis, AGpuWithoutDriver) {
  MachineFacts facts = healthy();
  facts.driver = missing();
  facts.driver_version = 0;
  facts.gpus.clear();
  Finding finding;
  EXPECT_EQ(trouble(facts, &finding), "driver");
  EXPECT_NE(finding.state.find("cannot open"), std::string::npos);
}

TEST(Diagnosis, ANamedDriverThatIsNotThere) {
  MachineFacts facts;
  facts.driver = facts.nvrtc = missing();
  facts.driver_was_named = true;
  EXPECT_EQ(trouble(facts), "driver");
}

TEST(Diagnosis, AnOldDriver) {
  MachineFacts facts = healthy();
  facts.driver_version = 11080;
  facts.nvrtc_version = 0;
  facts.gpus.clear();
  EXPECT_EQ(trouble(facts), "driver");
}

TEST(Diagnosis, ADriverOlderThanNvrtcNamesBoth) {
  MachineFacts facts = healthy();
  facts.driver_version = 12040;
  Finding finding;
  EXPECT_EQ(trouble(facts, &finding), "fit");
  EXPECT_NE(finding.state.find("12.4"), std::string::npos);
  EXPECT_NE(finding.state.find("13.0"), std::string::npos);
  EXPECT_NE(finding.remedy.find("cu12"), std::string::npos);
  facts.nvrtc_version = 12090;  // a newer minor of the same major runs
  EXPECT_EQ(trouble(facts), "");
}

TEST(Diagnosis, NoNvrtcIsTroubleOnlyWithAGpuAndWithoutAPack) {
  MachineFacts facts = healthy();
  facts.nvrtc = missing();
  facts.nvrtc_version = 0;
  facts.nvrtc_archs.clear();
  EXPECT_EQ(trouble(facts), "NVRTC");
  facts.pack = "/opt/tw.pack";
  EXPECT_EQ(trouble(facts), "");
}

TEST(Diagnosis, AGpuThatNvrtcDoesNotKnow) {
  MachineFacts facts = healthy();
  facts.gpus = {{"Next", {12, 1, true}}};
  Finding finding;
  EXPECT_EQ(trouble(facts, &finding), "architecture");
  EXPECT_NE(finding.remedy.find("newer"), std::string::npos);
  facts.gpus = {{"Old", {7, 0, false}}};
  EXPECT_EQ(trouble(facts, &finding), "GPUarchitecture");
  EXPECT_NE(finding.remedy.find("older"), std::string::npos);
}

TEST(Diagnosis, ADriverThatFails) {
  MachineFacts facts = healthy();
  facts.gpus.clear();
  facts.driver_problem = "the driver reports CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)";
  Finding finding;
  EXPECT_EQ(trouble(facts, &finding), "driver");
  EXPECT_NE(finding.state.find("803"), std::string::npos);
}

// End to end, in a process of its own that finds stand-ins for the vendor's libraries.
[[noreturn]] void print_diagnosis(const char* cuda, const char* nvrtc) {
  setenv("TW_CUDA", cuda, 1);
  setenv("TW_NVRTC", nvrtc, 1);
  unsetenv("TW_PACK");
  int bad = 0;
  for (const Finding& finding : diagnose()) {
    bad += !finding.ok;
    std::cerr << finding.subject << ": " << finding.state << " | " << finding.remedy << "\n";
  }
  std::exit(bad);
}

class DoctorProcess : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(DoctorProcess, DriverOlderThanNvrtc) {
  EXPECT_EXIT(print_diagnosis(TW_FAKES "/fake_cuda12.so", TW_FAKES "/fake_nvrtc13.so"),
              testing::ExitedWithCode(2),
              "12.4, older than NVRTC 13.0.*Fake GPU is sm_90a, which NVRTC 13.0 does not know");
}

TEST_F(DoctorProcess, NoDriver) {
  EXPECT_EXIT(print_diagnosis("/nowhere/libcuda.so.1", TW_FAKES "/fake_nvrtc13.so"),
              testing::ExitedWithCode(1),
              "no CUDA driver: /nowhere/libcuda.so.1: .*correct or unset TW_CUDA");
}

TEST_F(DoctorProcess, OldDriver) {
  EXPECT_EXIT(print_diagnosis(TW_FAKES "/fake_cuda11.so", "/nowhere/libnvrtc.so"),
              testing::ExitedWithCode(2), "driver: for CUDA 11.8.*update the NVIDIA driver");
}

TEST_F(DoctorProcess, NoNvrtc) {
  EXPECT_EXIT(print_diagnosis(TW_FAKES "/fake_cuda12.so", "/nowhere/libnvrtc.so"),
              testing::ExitedWithCode(1), "no NVRTC: /nowhere/libnvrtc.so: ");
}

TEST_F(DoctorProcess, NvrtcWithoutItsFunctions) {
  EXPECT_EXIT(print_diagnosis(TW_FAKES "/fake_cuda12.so", TW_FAKES "/fake_nvrtc11.so"),
              testing::ExitedWithCode(1), "lacks nvrtcGetErrorString");
}

TEST_F(DoctorProcess, AFailingDriverNamesTheCall) {
  const auto use = [] {
    setenv("TW_CUDA", TW_FAKES "/fake_cuda12.so", 1);
    try {
      Stream stream(Device::cuda(0));
    } catch (const DeviceError& error) {
      std::cerr << error.what();
      std::exit(error.kind() == ErrorKind::kDevice ? 0 : 1);
    }
    std::exit(2);
  };
  EXPECT_EXIT(use(), testing::ExitedWithCode(0), "cuda:0: cuStreamCreate failed: FAKE_ERROR .3");
}

}  // namespace
}  // namespace tilewright
