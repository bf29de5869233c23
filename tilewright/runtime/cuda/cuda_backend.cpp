// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/error.h"
#include "tilewright/runtime/backend.h"

namespace tilewright::detail {

int cuda_device_count() noexcept { return 0; }
std::string cuda_absence() { return "this build has no cuda device yet"; }
Backend& cuda_backend(int index) { TW_FAIL(Unsupported, "cuda:", index, ": ", cuda_absence()); }
void* cuda_allocate_host(std::size_t) noexcept { return nullptr; }
void cuda_release_host(void*) noexcept {}

}  // namespace tilewright::detail
