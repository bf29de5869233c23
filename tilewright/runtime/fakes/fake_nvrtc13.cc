// SPDX-License-Identifier: Apache-2.0
// NVRTC 13.0 that knows sm_75 and sm_80 alone and compiles nothing.
#define TW_EXPORT extern "C" __attribute__((visibility("default")))

TW_EXPORT int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, 0; }
TW_EXPORT int nvrtcGetNumSupportedArchs(int* count) { return *count = 2, 0; }
TW_EXPORT int nvrtcGetSupportedArchs(int* archs) { return archs[0] = 75, archs[1] = 80, 0; }
TW_EXPORT const char* nvrtcGetErrorString(int) { return "FAKE_NVRTC_ERROR"; }
TW_EXPORT int nvrtcCreateProgram() { return 1; }
TW_EXPORT int nvrtcDestroyProgram() { return 1; }
TW_EXPORT int nvrtcCompileProgram() { return 1; }
TW_EXPORT int nvrtcAddNameExpression() { return 1; }
TW_EXPORT int nvrtcGetLoweredName() { return 1; }
TW_EXPORT int nvrtcGetProgramLogSize() { return 1; }
TW_EXPORT int nvrtcGetProgramLog() { return 1; }
TW_EXPORT int nvrtcGetCUBINSize() { return 1; }
TW_EXPORT int nvrtcGetCUBIN() { return 1; }
