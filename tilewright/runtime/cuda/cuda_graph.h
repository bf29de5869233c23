// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/runtime/backend.h"
#include "tilewright/runtime/cuda/driver.h"

namespace tilewright::cuda {

class CudaGraph final : public detail::CapturedGraph {
 public:
  CudaGraph(int device, Context context, GraphHandle graph)
      : device_(device), context_(context), graph_(graph) {}
  ~CudaGraph() override;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  void instantiate() override;
  bool update(detail::CapturedGraph& fresh) override;
  void replay(detail::StreamState& stream) override;
  int node_count() const override;

 private:
  int device_;
  Context context_;
  GraphHandle graph_;
  GraphExec executable_ = nullptr;
};

}  // namespace tilewright::cuda
