// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/files.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "tw_files_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path at(const char* name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

TEST_F(Files, ReadsWhatWasWritten) {
  for (const std::size_t size : {0, 1, 65535, 65536, 65537, 200000}) {
    std::string text(size, 'x');
    if (size > 0) text.back() = '\0';
    write_file_atomic(at("file"), text);
    EXPECT_EQ(read_text_file(at("file")), text) << size;
    EXPECT_EQ(MappedFile(at("file")).bytes().size(), size);
  }
}

// In a container every process has the same number.
TEST_F(Files, WhatAKilledWriterLeftIsNoObstacle) {
  for (int i = 0; i < 300; ++i)
    std::ofstream(at(str(".file.", ::getpid(), ".", i, ".tmp").c_str())) << "half";
  write_file_atomic(at("file"), "whole");
  EXPECT_EQ(read_text_file(at("file")), "whole");
  EXPECT_EQ(read_text_file(at(str(".file.", ::getpid(), ".", 299, ".tmp").c_str())), "half");
}

TEST_F(Files, TheLimitIsTheMostThatIsRead) {
  write_file_atomic(at("file"), std::string(100000, 'x'));
  EXPECT_EQ(read_text_file(at("file"), 100000).size(), 100000u);
  EXPECT_THROW(read_text_file(at("file"), 99999), IoError);
  EXPECT_THROW(read_text_file("/dev/zero", 1 << 20), IoError);
}

TEST_F(Files, AMissingFileAndAFolderAreNamed) {
  EXPECT_THROW(read_text_file(at("none")), NotFound);
  EXPECT_THROW(MappedFile(at("none")), NotFound);
  EXPECT_THROW(read_text_file(at(".")), IoError);
  EXPECT_THROW(MappedFile(at(".")), IoError);
}

TEST_F(Files, APipeIsReadToItsEndAndNeverMapped) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_THROW(MappedFile(at("pipe")), IoError) << "nobody writes: it must not wait";
  std::thread writer([&] { std::ofstream(at("pipe")) << std::string(300000, 'y'); });
  EXPECT_EQ(read_text_file(at("pipe")), std::string(300000, 'y'));
  writer.join();
}

}  // namespace
}  // namespace tilewright
