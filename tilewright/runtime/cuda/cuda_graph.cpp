// SPDX-License-Identifier: Apache-2.0
#include "tilewright/runtime/cuda/cuda_graph.h"

#include <utility>

#include "tilewright/runtime/cuda/context.h"

namespace tilewright::cuda {

// The driver keeps an executable that is still running until it ends.
CudaGraph::~CudaGraph() {
  if (executable_ != nullptr) driver().cuGraphExecDestroy(executable_);
  if (graph_ != nullptr) driver().cuGraphDestroy(graph_);
}

void CudaGraph::instantiate() {
  const ContextScope scope(context_);
  TW_CU(device_, cuGraphInstantiateWithFlags(&executable_, graph_, 0));
}

bool CudaGraph::update(detail::CapturedGraph& fresh) {
  auto& other = static_cast<CudaGraph&>(fresh);
  const ContextScope scope(context_);
  GraphUpdateResult why{};
  const Result result = driver().cuGraphExecUpdate(executable_, other.graph_, &why);
  if (result == kErrorGraphUpdate) return false;
  check(result, "cuGraphExecUpdate", device_);
  std::swap(graph_, other.graph_);
  return true;
}

void CudaGraph::replay(detail::StreamState& stream) {
  const ContextScope scope(context_);
  TW_CU(device_, cuGraphLaunch(executable_, static_cast<StreamHandle>(stream.native)));
  note_launch("(a graph)");
}

int CudaGraph::node_count() const {
  std::size_t count = 0;
  TW_CU(device_, cuGraphGetNodes(graph_, nullptr, &count));
  return int(count);
}

}  // namespace tilewright::cuda
