// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/jit/sources.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tilewright/base/files.h"
#include "tilewright/runtime/jit/test_folder.h"

namespace tilewright::jit {
namespace {

std::vector<std::string> names(std::string_view text) {
  std::vector<std::string> result;
  for (const Include& include : scan_includes(text).includes) result.push_back(include.name);
  return result;
}

TEST(IncludeScan, FindsIncludesOutsideCommentsAndStrings) {
  EXPECT_EQ(names("#include \"a.h\"\n  #  include <b/c.h>  // why\n"),
            (std::vector<std::string>{"a.h", "b/c.h"}));
  EXPECT_EQ(names("// #include \"a.h\"\n/*\n#include <b.h>\n*/ int x;\n"),
            std::vector<std::string>{});
  EXPECT_EQ(names("const char* s = \"/*\";\n#include \"a.h\"\nconst char* t = \"*/\";\n"),
            (std::vector<std::string>{"a.h"}));
  EXPECT_EQ(names("#if 0\n#include \"never.h\"\n#endif\n#include \"last.h\""),
            (std::vector<std::string>{"never.h", "last.h"}));
}

TEST(IncludeScan, RawStringsAndContinuedLinesHideNoInclude) {
  EXPECT_EQ(names("auto s = R\"(\n/*\n)\";\n#include \"a.h\"\n"),
            (std::vector<std::string>{"a.h"}));
  EXPECT_EQ(names("auto s = R\"x()\" /* )x\";\n#include \"a.h\"\n"),
            (std::vector<std::string>{"a.h"}));
  EXPECT_EQ(names("#include \\\n  \"a.h\"\n#inc\\\r\nlude <b.h>\n// c \\\n#include <d.h>\n"),
            (std::vector<std::string>{"a.h", "b.h"}));
}

TEST(IncludeScan, AMacroMakesTheListIncomplete) {
  EXPECT_TRUE(scan_includes("#include HEADER\n").computed);
  EXPECT_FALSE(scan_includes("#include <x.h>\n").computed);
}

TEST(EmbeddedSources, HoldTheFilesOfTheTree) {
  for (const char* path : {"tilewright/device/core/config.h", "tilewright/device/core/types.h",
                           "tilewright/runtime/copy.cuh", "tilewright/runtime/copy_args.h"}) {
    const auto text = find_source(path);
    ASSERT_TRUE(text.has_value()) << path;
    EXPECT_EQ(*text, read_text_file(std::filesystem::path(TW_SOURCE_DIR) / path)) << path;
  }
  EXPECT_FALSE(find_source("tilewright/runtime/device.h").has_value());
}

TEST(Closure, ReachesEveryHeaderOnce) {
  const Closure closure = close_over("#include \"tilewright/runtime/copy.cuh\"\n");
  std::vector<std::string> paths;
  for (const auto& [path, text] : closure.headers) paths.push_back(path);
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(paths, (std::vector<std::string>{"tilewright/device/core/config.h",
                                             "tilewright/runtime/copy.cuh",
                                             "tilewright/runtime/copy_args.h"}));
  EXPECT_TRUE(closure.complete);
}

TEST(Closure, TheHashFollowsEveryFileReadAndNothingElse) {
  const TestFolder folder;
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder.path() / name) << text;
  };
  write("a.h", "#include \"b.h\"\n");
  write("b.h", "int b;\n");
  write("unrelated.h", "int c;\n");
  const std::vector<std::string> folders{folder.path()};
  const std::string source = "#include <a.h>\n#include <later.h>\n";
  const auto hash = [&] { return close_over(source, folders).hash; };
  const std::string before = hash();
  EXPECT_EQ(hash(), before);
  write("unrelated.h", "int d;\n");
  EXPECT_EQ(hash(), before);
  write("b.h", "int bb;\n");
  const std::string changed = hash();
  EXPECT_NE(changed, before) << "a header of a header was not hashed";
  write("later.h", "int e;\n");
  EXPECT_NE(hash(), changed) << "a header that appeared was not hashed";
  EXPECT_NE(close_over(source + " ", folders).hash, hash());
}

}  // namespace
}  // namespace tilewright::jit
