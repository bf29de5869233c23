// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/engine/engine_state.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/ops/add/add.h"
#include "tilewright/ops/sampling/sampling.h"
#include "tilewright/runtime/jit/kernel.h"

namespace tilewright {
namespace {

constexpr std::int64_t kDefaultCapacity = 4096;
// Up to this many rows a matrix product has a kernel of its own for each number of rows.
constexpr std::int64_t kFewRows = 16;

// The dtype of the bulk of the weights, after any conversion.
DType weight_dtype(const ModelFiles& files, const std::optional<DType>& wanted) {
  const DType stored = files.weights().get("blk.0.ffn_down.weight").dtype;
  return is_block_type(stored) ? stored : wanted.value_or(stored);
}

ModelDTypes choose_dtypes(const ModelFiles& files, const EngineOptions& options, Device device) {
  const DType weights = weight_dtype(files, options.weights);
  ModelDTypes dtypes;
  if (weights == DType::f32) {
    dtypes.activation = dtypes.cache = DType::f32;
  } else if (device.is_cpu() || is_block_type(weights)) {
    dtypes.cache = DType::f16;
  } else {
    dtypes.activation = dtypes.cache = DType::bf16;
  }
  dtypes.cache = options.cache.value_or(dtypes.cache);
  dtypes.rounding = options.activations;
  return dtypes;
}

std::int64_t choose_capacity(const ModelConfig& config, std::int64_t wanted) {
  TW_CHECK(wanted >= 0 && wanted <= config.context, InvalidArgument, "context of ", wanted,
           " positions: the model was made for at most ", config.context);
  return wanted > 0 ? wanted : std::min(config.context, kDefaultCapacity);
}

}  // namespace

TokenOutbox::TokenOutbox(const Stream& stream, std::int64_t width)
    : width_(width), host_(Buffer::pinned(std::size_t(width * kSlots) * sizeof(std::int32_t))) {
  for (int i = 0; i < kSlots; ++i) events_.emplace_back(stream.device());
}

void TokenOutbox::push(const Tensor& tokens, const Stream& stream) {
  TW_CHECK(size() < kSlots, InvalidArgument, "engine: ", kSlots,
           " results wait already; fetch() some before the next step()");
  const int slot = next_;
  next_ = (next_ + 1) % kSlots;
  auto* target = static_cast<std::int32_t*>(host_.data()) + slot * width_;
  copy_bytes(target, Device::cpu(), tokens.data(), tokens.device(), tokens.bytes(), stream);
  events_[std::size_t(slot)].record(stream);
  pending_.push_back(slot);
}

std::vector<std::int32_t> TokenOutbox::pop() {
  TW_CHECK(!pending_.empty(), InvalidArgument, "engine: nothing to fetch");
  const int slot = pending_.front();
  events_[std::size_t(slot)].synchronize();
  pending_.pop_front();
  const auto* source = static_cast<const std::int32_t*>(host_.data()) + slot * width_;
  return {source, source + width_};
}

void TokenOutbox::clear() {
  while (size() > 0) pop();
}

Engine::State::State(std::shared_ptr<const ModelFiles> model_files,
                     const EngineOptions& engine_options, const EngineProgress& progress)
    : files(std::move(model_files)),
      options(engine_options),
      stream(Device::parse(engine_options.device)) {
  const ModelConfig& config = files->config();
  TW_CHECK(options.sequences >= 1 && options.chunk >= 1, InvalidArgument,
           "engine: sequences and chunk are at least 1");
  dtypes = choose_dtypes(*files, options, stream.device());
  capacity = choose_capacity(config, options.capacity);
  options.chunk = std::min(options.chunk, capacity);
  lengths.assign(std::size_t(options.sequences), 0);
  load_model(progress);
  make_buffers();
  prepare_kernels(progress);
  prepare_graph();
}

void Engine::State::load_model(const EngineProgress& progress) {
  LoadProgress on_bytes;
  if (progress) {
    on_bytes = [&](std::size_t done, std::size_t total) { progress("weights", done, total); };
  }
  WeightLoader loader(files->weights(), stream, options.weights, on_bytes);
  const ModelLimits limits{std::max(options.chunk, options.sequences), options.sequences, capacity};
  model = load_language_model(files->config(), loader, dtypes, limits);
}

void Engine::State::make_buffers() {
  const ModelConfig& config = files->config();
  const std::int64_t count = options.sequences;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const Shape shape{count, config.kv_heads, capacity, config.head_dim};
    caches.push_back(
        {Tensor::zeros(shape, dtypes.cache, stream), Tensor::zeros(shape, dtypes.cache, stream)});
  }
  const auto integers = [&](std::int64_t size) {
    return Tensor::zeros({size}, DType::i32, stream);
  };
  chunk_tokens = integers(options.chunk);
  chunk_positions = integers(options.chunk);
  chunk_sequences = integers(options.chunk);
  tokens = integers(count);
  positions = integers(count);
  sequences = integers(count);
  ones = integers(count);
  std::vector<std::int32_t> values(static_cast<std::size_t>(count), 1);
  write(ones, values);
  std::iota(values.begin(), values.end(), 0);
  write(sequences, values);
  const std::vector<SamplingParams> greedy(static_cast<std::size_t>(count));
  params = Tensor::from_host(greedy.data(), {count * std::int64_t(sizeof(SamplingParams))},
                             DType::u8, stream);
  logits = Tensor::zeros({count, config.vocab}, DType::f32, stream);
  outbox = std::make_unique<TokenOutbox>(stream, count);
}

// Every kernel that a step or a prefill may launch, compiled in parallel before the first.
void Engine::State::prepare_kernels(const EngineProgress& progress) {
  if (stream.device().is_cpu()) return;
  const std::vector<KernelSpec> specs = collect_kernels([&] {
    step_eagerly();
    for (std::int64_t rows = 1; rows <= options.chunk;
         rows = rows <= kFewRows ? rows + 1 : rows * 2)
      forward_chunk(0, 0, std::vector<std::int32_t>(std::size_t(rows), 0), rows - 1,
                    logits.slice(0, 0, 1));
    sample(0, 1);
  });
  CompileProgress on_kernel;
  if (progress) {
    on_kernel = [&](int done, int total, const KernelSpec&) {
      progress("kernels", std::size_t(done), std::size_t(total));
    };
  }
  compile_kernels(specs, properties(stream.device()).arch, on_kernel);
}

void Engine::State::prepare_graph() {
  step_eagerly();
  if (options.use_graph) {
    graph = Graph::capture(stream, [&] { step_eagerly(); });
    if (options.self_test) check_replay();
  }
  const std::vector<std::int32_t> zeros(std::size_t(options.sequences), 0);
  write(tokens, zeros);
  write(positions, zeros);
  stream.synchronize();
}

// A replay must give what the eager step gives, to the last bit.
void Engine::State::check_replay() {
  const std::vector<std::int32_t> zeros(std::size_t(options.sequences), 0);
  write(tokens, zeros);
  write(positions, zeros);
  step_eagerly();
  const std::vector<float> eager = read_logits();
  fill_bytes(logits.data(), logits.device(), 0xff, logits.bytes(), stream);
  write(tokens, zeros);
  write(positions, zeros);
  graph.replay(stream);
  const std::vector<float> replayed = read_logits();
  TW_CHECK(std::memcmp(eager.data(), replayed.data(), eager.size() * sizeof(float)) == 0, Internal,
           "the captured decode step differs from the eager one on ", stream.device(),
           "; use --no-graph and report this");
}

void Engine::State::forward_chunk(std::int64_t sequence, std::int64_t position,
                                  std::span<const std::int32_t> ids, std::int64_t first_row,
                                  const Tensor& logits_out) {
  const auto count = std::int64_t(ids.size());
  const TokenBatch batch{chunk_tokens.slice(0, 0, count), chunk_positions.slice(0, 0, count),
                         chunk_sequences.slice(0, 0, count), first_row};
  std::vector<std::int32_t> values(ids.begin(), ids.end());
  write(batch.tokens, values);
  std::iota(values.begin(), values.end(), std::int32_t(position));
  write(batch.positions, values);
  std::fill(values.begin(), values.end(), std::int32_t(sequence));
  write(batch.sequences, values);
  model->forward(batch, caches, logits_out, stream);
}

void Engine::State::sample(std::int64_t first, std::int64_t count) {
  const auto rows = [&](const Tensor& tensor) { return tensor.slice(0, first, first + count); };
  constexpr auto kBytes = std::int64_t(sizeof(SamplingParams));
  sample_into(rows(tokens), rows(logits), params.slice(0, first * kBytes, (first + count) * kBytes),
              rows(positions), stream);
  add_into(rows(positions), rows(positions), rows(ones), stream);
}

void Engine::State::step_eagerly() {
  model->forward({tokens, positions, sequences, 0}, caches, logits, stream);
  sample(0, options.sequences);
}

void Engine::State::write(const Tensor& tensor, const std::vector<std::int32_t>& values) {
  copy_bytes(tensor.data(), tensor.device(), values.data(), Device::cpu(),
             values.size() * sizeof(std::int32_t), stream);
}

void Engine::State::check_tokens(std::int64_t sequence, std::int64_t start,
                                 std::span<const std::int32_t> ids) const {
  TW_CHECK(sequence >= 0 && sequence < options.sequences, InvalidArgument, "engine: sequence ",
           sequence, " of ", options.sequences);
  TW_CHECK(!ids.empty(), InvalidArgument, "engine: no token to start from");
  TW_CHECK(start + std::int64_t(ids.size()) <= capacity, InvalidArgument, "prompt of ", ids.size(),
           " tokens after ", start, " does not fit the context of ", capacity,
           " positions; shorten it or raise --context (the model takes ", files->config().context,
           ")");
  for (const std::int32_t id : ids) {
    TW_CHECK(id >= 0 && id < files->config().vocab, InvalidArgument, "token id ", id,
             " is outside the model's vocabulary of ", files->config().vocab);
  }
}

std::vector<float> Engine::State::read_logits() const {
  std::vector<float> values(std::size_t(logits.numel()));
  logits.to_host(values.data(), stream);
  return values;
}

}  // namespace tilewright
