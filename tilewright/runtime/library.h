// SPDX-License-Identifier: Apache-2.0
// Shared libraries found at run time. Order: environment variable, already loaded in the process,
// pip's nvidia-* wheels, our own cache folder, the toolkit, the system. A missing one is a message.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

enum class LibraryId { kCuda, kNvrtc, kCublasLt, kCudnn, kNccl, kCupti };

struct LibraryStatus {
  LibraryId id;
  std::string name;  // "NVRTC"
  bool loaded = false;
  std::string path;                // the file that was loaded
  std::string version;             // "13.0"
  std::string found_by;            // "environment TW_NVRTC", "pip wheel nvidia-cuda-nvrtc", …
  std::vector<std::string> tried;  // "path: reason", in order
  std::string variable;            // the environment variable that names a file
  std::string remedy;              // what to install or set when it is missing
};

// Loads on first use and remembers the outcome.
const LibraryStatus& library_status(LibraryId id);
// A symbol of a loaded library; throws LibraryError with status().remedy when it is missing.
void* library_symbol(LibraryId id, const char* name);

struct Finding {
  bool ok = true;
  std::string subject;  // "driver", "NVRTC", "architecture"
  std::string state;    // what was found
  std::string remedy;   // empty when ok
};
// What `tw doctor` prints: driver, NVRTC, toolkit, architecture, and what does not fit together.
std::vector<Finding> diagnose();

}  // namespace tilewright
