// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "tilewright/base/error.h"

int main(int argc, char** argv) {
  CLI::App app{"tw: write, check, measure and ship deep-learning kernels"};
  CLI11_PARSE(app, argc, argv);
  return 0;
}
