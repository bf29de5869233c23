// SPDX-License-Identifier: Apache-2.0
// The parts of an Engine; internal to llm/engine.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "tilewright/llm/engine/engine.h"

namespace tilewright {

// Brings sampled tokens to the host without stopping the stream: pinned slots, one event each.
class TokenOutbox {
 public:
  TokenOutbox(const Stream& stream, std::int64_t width);
  void push(const Tensor& tokens, const Stream& stream);  // [width] i32; throws when full
  std::vector<std::int32_t> pop();                        // waits for the oldest
  int size() const { return int(pending_.size()); }
  void clear();

 private:
  static constexpr int kSlots = 4;
  std::int64_t width_;
  Buffer host_;
  std::vector<Event> events_;
  std::deque<int> pending_;
  int next_ = 0;
};

struct Engine::State {
  State(std::shared_ptr<const ModelFiles> model_files, const EngineOptions& engine_options,
        const EngineProgress& progress);

  void load_model(const EngineProgress& progress);
  void make_buffers();
  void prepare_kernels(const EngineProgress& progress);
  void prepare_graph();
  void check_replay();

  // One pass over `count` tokens of a sequence from `position`; logits of all from `first_row`.
  void forward_chunk(std::int64_t sequence, std::int64_t position,
                     std::span<const std::int32_t> tokens, std::int64_t first_row,
                     const Tensor& logits_out);
  void sample(std::int64_t first, std::int64_t count);
  void step_eagerly();
  void write(const Tensor& tensor, const std::vector<std::int32_t>& values);
  void check_tokens(std::int64_t sequence, std::int64_t start,
                    std::span<const std::int32_t> tokens) const;
  std::vector<float> read_logits() const;

  std::shared_ptr<const ModelFiles> files;
  EngineOptions options;
  Stream stream;
  ModelDTypes dtypes;
  std::int64_t capacity = 0;
  std::unique_ptr<LanguageModel> model;
  std::vector<KeyValueCache> caches;  // one a layer
  std::vector<std::int64_t> lengths;  // one a sequence

  Tensor chunk_tokens, chunk_positions, chunk_sequences;  // [chunk] i32
  Tensor tokens, positions, sequences, ones;              // [sequences] i32
  Tensor params;                                          // [sequences * sizeof(SamplingParams)]
  Tensor logits;                                          // [sequences, vocab] f32
  std::unique_ptr<TokenOutbox> outbox;
  Graph graph;
  bool replaying = true;
};

}  // namespace tilewright
