// SPDX-License-Identifier: Apache-2.0
// `tw info`: the devices and the libraries that were found, and where.
#pragma once

namespace tilewright::cli {

struct InfoOptions {
  bool json = false;
};
int run_info(const InfoOptions& options);

}  // namespace tilewright::cli
