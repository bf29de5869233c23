// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/llm/formats/model_files.h"
#include "tilewright/llm/models/language_model.h"
#include "tilewright/ops/linear/linear_rounding.h"
#include "tilewright/ops/sampling/sampling_args.h"
#include "tilewright/runtime/graph.h"

namespace tilewright {

// What loading is busy with: "weights" in bytes, "kernels" in kernels.
using EngineProgress =
    std::function<void(std::string_view stage, std::size_t done, std::size_t total)>;

struct EngineOptions {
  std::string device = "auto";
  std::int64_t capacity = 0;   // positions of a sequence; 0: the model's context, 4096 at most
  std::int64_t sequences = 1;  // decoded together
  std::int64_t chunk = 512;    // most tokens of one prefill pass
  bool use_graph = true;       // decode by replaying one captured step
  bool self_test = true;       // compare one replay with the eager step, bit by bit, at start
  // Weights stored as f32, f16 or bf16 are converted to this; default: as stored.
  std::optional<DType> weights;
  std::optional<DType> cache;  // keys and values; default: see docs/architecture.md
  // How the cpu rounds activations that meet quantised weights; see linear_rounding.h.
  ActivationRounding activations = ActivationRounding::kSixteenBit;
};

// Runs one model: a static key/value cache, prefill in chunks, decode of all sequences at once by
// a captured graph. Belongs to one thread at a time. Nothing is allocated or compiled after
// create() on a step.
class Engine {
 public:
  // `model`: a path, or a name that `tw pull` knows. Throws what open_model and the ops throw.
  static std::unique_ptr<Engine> load(const std::string& model, const EngineOptions& options = {},
                                      const EngineProgress& progress = nullptr);
  static std::unique_ptr<Engine> create(std::shared_ptr<const ModelFiles> files,
                                        const EngineOptions& options = {},
                                        const EngineProgress& progress = nullptr);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const ModelConfig& config() const;
  const ModelFiles& files() const;
  Device device() const;
  std::int64_t capacity() const;
  std::int64_t sequences() const;
  // Bytes that a decode step reads: weights, and keys and values of the sequences as long as
  // they are now.
  std::size_t bytes_per_step() const;

  // Tokens of a sequence that are in the cache.
  std::int64_t length(std::int64_t sequence = 0) const;
  // Forgets all past the first `length` tokens.
  void truncate(std::int64_t sequence, std::int64_t length);
  void set_sampling(std::int64_t sequence, const SamplingParams& params);
  // Appends tokens to a sequence, in chunks, and samples the one after them. Throws
  // InvalidArgument when the cache is too short or an id is outside the vocabulary. `between`
  // is called after each chunk and may throw to stop.
  void prefill(std::int64_t sequence, std::span<const std::int32_t> tokens,
               const std::function<void()>& between = nullptr);
  // Starts one step: every sequence appends the token sampled last and samples the next. Returns
  // at once on cuda. Throws InvalidArgument when a cache is full.
  void step();
  // The tokens sampled by the oldest prefill or step not fetched yet, one a sequence (after a
  // prefill only that sequence's is new). Waits for it.
  std::vector<std::int32_t> fetch();
  // Steps replay the captured graph, or launch each kernel: for measuring one against the other.
  // No effect on an engine made without a graph.
  void replay_steps(bool replay);
  int unfetched() const;
  void synchronize() const;

  // Logits after the last token of the last prefill or step, [sequences, vocab]; synchronises.
  std::vector<float> logits() const;
  // Logits of every position of `tokens` from an empty sequence 0: [tokens, vocab].
  std::vector<float> forward_all(std::span<const std::int32_t> tokens);

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A path as it is, or the newest model that `tw pull` put under that name in the cache. Throws
// NotFound that says how to get one.
std::filesystem::path resolve_model(const std::string& model);

}  // namespace tilewright
