// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace tilewright {

// The message of the Error that `work` throws, after its kind: "invalid argument: add: a: got …";
// empty when it throws none.
std::string failure_of(const std::function<void()>& work);

}  // namespace tilewright
