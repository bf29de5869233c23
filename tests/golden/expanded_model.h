// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tilewright/llm/formats/model_files.h"

namespace tilewright {

// The same model with every block-quantised tensor expanded to float32, so that an engine that
// runs it rounds nothing below float32.
std::shared_ptr<const ModelFiles> expanded(std::shared_ptr<const ModelFiles> model);

}  // namespace tilewright
