// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/engine/engine.h"

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/llm/engine/engine_state.h"

namespace tilewright {

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::~Engine() = default;

std::unique_ptr<Engine> Engine::load(const std::string& model, const EngineOptions& options,
                                     const EngineProgress& progress) {
  return create(open_model(resolve_model(model)), options, progress);
}

std::unique_ptr<Engine> Engine::create(std::shared_ptr<const ModelFiles> files,
                                       const EngineOptions& options,
                                       const EngineProgress& progress) {
  return std::unique_ptr<Engine>(
      new Engine(std::make_unique<State>(std::move(files), options, progress)));
}

const ModelConfig& Engine::config() const { return state_->files->config(); }
const ModelFiles& Engine::files() const { return *state_->files; }
Device Engine::device() const { return state_->stream.device(); }
std::int64_t Engine::capacity() const { return state_->capacity; }
std::int64_t Engine::sequences() const { return state_->options.sequences; }

std::size_t Engine::bytes_per_step() const {
  const ModelConfig& config = state_->files->config();
  const std::size_t per_position = std::size_t(2 * config.layers * config.kv_dim()) *
                                   std::size_t(info(state_->dtypes.cache).bytes);
  std::size_t bytes = state_->model->bytes_per_step();
  for (const std::int64_t length : state_->lengths) bytes += std::size_t(length) * per_position;
  return bytes;
}

std::int64_t Engine::length(std::int64_t sequence) const {
  return state_->lengths.at(std::size_t(sequence));
}

void Engine::truncate(std::int64_t sequence, std::int64_t length) {
  std::int64_t& current = state_->lengths.at(std::size_t(sequence));
  TW_CHECK(length >= 0 && length <= current, InvalidArgument, "engine: cannot cut a sequence of ",
           current, " tokens to ", length);
  state_->outbox->clear();
  current = length;
}

void Engine::set_sampling(std::int64_t sequence, const SamplingParams& params) {
  TW_CHECK(sequence >= 0 && sequence < sequences(), InvalidArgument, "engine: sequence ", sequence,
           " of ", sequences());
  TW_CHECK(params.temperature >= 0 && params.top_p >= 0 && params.min_p >= 0 && params.top_k >= 0,
           InvalidArgument, "sampling: temperature, top-p, min-p and top-k are at least 0");
  constexpr auto kBytes = std::int64_t(sizeof(SamplingParams));
  const Tensor row = state_->params.slice(0, sequence * kBytes, (sequence + 1) * kBytes);
  copy_bytes(row.data(), row.device(), &params, Device::cpu(), sizeof(params), state_->stream);
}

void Engine::prefill(std::int64_t sequence, std::span<const std::int32_t> tokens,
                     const std::function<void()>& between) {
  State& state = *state_;
  TW_CHECK(sequence >= 0 && sequence < sequences(), InvalidArgument, "engine: sequence ", sequence,
           " of ", sequences());
  std::int64_t& length = state.lengths[std::size_t(sequence)];
  state.check_tokens(sequence, length, tokens);
  const Tensor row = state.logits.slice(0, sequence, sequence + 1);
  const Tensor none = state.logits.slice(0, 0, 0);
  while (!tokens.empty()) {
    const auto count = std::min(std::size_t(state.options.chunk), tokens.size());
    const bool last = count == tokens.size();
    state.forward_chunk(sequence, length, tokens.first(count),
                        std::int64_t(last ? count - 1 : count), last ? row : none);
    length += std::int64_t(count);
    tokens = tokens.subspan(count);
    if (between) between();
  }
  state.write(state.positions.slice(0, sequence, sequence + 1), {std::int32_t(length - 1)});
  state.sample(sequence, 1);
  state.outbox->push(state.tokens, state.stream);
}

void Engine::step() {
  State& state = *state_;
  for (const std::int64_t length : state.lengths) {
    TW_CHECK(length < state.capacity, InvalidArgument, "the context of ", state.capacity,
             " positions is full");
  }
  if (state.graph && state.replaying) {
    state.graph.replay(state.stream);
  } else {
    state.step_eagerly();
  }
  for (std::int64_t& length : state.lengths) ++length;
  state.outbox->push(state.tokens, state.stream);
}

std::vector<std::int32_t> Engine::fetch() { return state_->outbox->pop(); }
void Engine::replay_steps(bool replay) { state_->replaying = replay; }
int Engine::unfetched() const { return state_->outbox->size(); }
void Engine::synchronize() const { state_->stream.synchronize(); }
std::vector<float> Engine::logits() const { return state_->read_logits(); }

std::vector<float> Engine::forward_all(std::span<const std::int32_t> tokens) {
  State& state = *state_;
  state.outbox->clear();
  state.lengths[0] = 0;
  state.check_tokens(0, 0, tokens);
  const std::int64_t vocab = config().vocab;
  std::vector<float> result(tokens.size() * std::size_t(vocab));
  float* target = result.data();
  while (!tokens.empty()) {
    const auto count = std::min(std::size_t(state.options.chunk), tokens.size());
    const Tensor rows = Tensor::empty({std::int64_t(count), vocab}, DType::f32, state.stream);
    state.forward_chunk(0, state.lengths[0], tokens.first(count), 0, rows);
    rows.to_host(target, state.stream);
    target += rows.numel();
    state.lengths[0] += std::int64_t(count);
    tokens = tokens.subspan(count);
  }
  return result;
}

}  // namespace tilewright
