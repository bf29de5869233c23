// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/cuda/driver.h"
#include "tilewright/runtime/device.h"

namespace tilewright::cuda {

// Makes a context current for a scope and puts the caller's back: other libraries of the process
// keep theirs.
class ContextScope {
 public:
  explicit ContextScope(Context context) {
    driver().cuCtxGetCurrent(&before_);
    changed_ = before_ != context;
    if (changed_) check(driver().cuCtxSetCurrent(context), "cuCtxSetCurrent", -1);
  }
  ~ContextScope() {
    if (changed_) driver().cuCtxSetCurrent(before_);
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  Context before_ = nullptr;
  bool changed_ = false;
};

// Calls that touch nothing captured, and that a capture of this thread would refuse all the same.
class OutsideCapture {
 public:
  OutsideCapture() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }
  ~OutsideCapture() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }
  OutsideCapture(const OutsideCapture&) = delete;
  OutsideCapture& operator=(const OutsideCapture&) = delete;

 private:
  int mode_ = kCaptureRelaxed;
};

// The primary context of a GPU, retained for the life of the process.
Context primary_context(int index);

}  // namespace tilewright::cuda
