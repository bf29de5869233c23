// SPDX-License-Identifier: Apache-2.0
// `tw doctor`: what does not fit together, and how to mend it.
#pragma once

namespace tilewright::cli {

struct DoctorOptions {
  bool json = false;
};
// 0 when everything that is needed here works; a machine without a GPU is fine. 7 otherwise.
int run_doctor(const DoctorOptions& options);

}  // namespace tilewright::cli
