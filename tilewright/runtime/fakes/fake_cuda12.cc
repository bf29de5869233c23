// SPDX-License-Identifier: Apache-2.0
// A driver for CUDA 12.4 with one GPU of sm_90. Every other call reports "not initialised".
#include <cstring>

#define TW_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

int fail() { return 3; }
int init(unsigned) { return 0; }
int count(int* value) { return *value = 1, 0; }
int device(int* value, int) { return *value = 0, 0; }
int name(char* text, int size, int) { return std::strncpy(text, "Fake GPU", unsigned(size)), 0; }
int memory(unsigned long* value, int) { return *value = 1ul << 30, 0; }
int attribute(int* value, int which, int) {
  *value = which == 75 ? 9 : which == 76 ? 0 : which == 16 ? 132 : which == 97 ? 232448 : 0;
  return 0;
}
int retain(void** context, int) { return *context = nullptr, 0; }
int current(void** context) { return *context = nullptr, 0; }
int error_text(int, const char** text) { return *text = "FAKE_ERROR", 0; }

struct Entry {
  const char* name;
  void* function;
};
const Entry kEntries[] = {
    {"cuInit", reinterpret_cast<void*>(init)},
    {"cuDeviceGetCount", reinterpret_cast<void*>(count)},
    {"cuDeviceGet", reinterpret_cast<void*>(device)},
    {"cuDeviceGetName", reinterpret_cast<void*>(name)},
    {"cuDeviceTotalMem", reinterpret_cast<void*>(memory)},
    {"cuDeviceGetAttribute", reinterpret_cast<void*>(attribute)},
    {"cuDevicePrimaryCtxRetain", reinterpret_cast<void*>(retain)},
    {"cuCtxGetCurrent", reinterpret_cast<void*>(current)},
    {"cuGetErrorName", reinterpret_cast<void*>(error_text)},
    {"cuGetErrorString", reinterpret_cast<void*>(error_text)},
};

}  // namespace

TW_EXPORT int cuDriverGetVersion(int* version) { return *version = 12040, 0; }

TW_EXPORT int cuGetProcAddress_v2(const char* symbol, void** function, int, unsigned long,
                                  int* status) {
  *function = reinterpret_cast<void*>(fail);
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.name, symbol) == 0) *function = entry.function;
  }
  return *status = 0, 0;
}
