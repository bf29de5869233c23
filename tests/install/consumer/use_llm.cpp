// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "tilewright/base/error.h"
#include "tilewright/llm/engine/engine.h"
#include "tilewright/llm/formats/model_files.h"

int main(int argc, char** argv) {
  using namespace tilewright;
  try {
    const auto model = open_model(argc > 1 ? argv[1] : "no/such/model");
    std::printf("%s\n", model->path().c_str());
    const auto tokenizer = model->load_tokenizer();  // needs what the library links
  } catch (const NotFound& error) {
    std::printf("%s\n", error.what());
  }
}
