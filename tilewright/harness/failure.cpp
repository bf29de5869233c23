// SPDX-License-Identifier: Apache-2.0
#include "tilewright/harness/failure.h"

#include "tilewright/base/error.h"

namespace tilewright {

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return str(name(error.kind()), ": ", error.what());
  }
  return "";
}

}  // namespace tilewright
