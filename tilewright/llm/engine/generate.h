// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/llm/engine/engine.h"

namespace tilewright {

struct GenerateOptions {
  std::int64_t max_tokens = -1;     // -1: until the context is full
  std::vector<std::string> stop;    // texts that end the answer; not part of it
  bool ignore_stop_tokens = false;  // for measuring
  SamplingParams sampling;
};

enum class FinishReason { kStopToken, kStopText, kLength, kContext, kCancelled };
std::string_view name(FinishReason reason);

struct GenerateResult {
  std::string text;
  std::vector<std::int32_t> tokens;  // sampled, the stop token included
  FinishReason reason = FinishReason::kLength;
  std::int64_t prompt_tokens = 0;  // put through the model in this call
  std::int64_t reused_tokens = 0;  // found in the cache
  double prompt_seconds = 0;       // to the first token
  std::int64_t decode_steps = 0;   // tokens after the first
  double decode_seconds = 0;
  double decode_bytes = 0;  // read by those steps: weights, keys and values
};

// Whole UTF-8 characters as they become known; never text that a stop text takes back.
using TextSink = std::function<void(std::string_view text)>;

// Holds back the end of a text that may turn out to be the start of a stop text.
class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stop) : stop_(std::move(stop)) {}
  // Text that is safe to show now. After a stop text was found, found() and nothing more.
  std::string push(std::string_view text);
  std::string flush();
  bool found() const { return found_; }

 private:
  std::vector<std::string> stop_;
  std::string held_;
  bool found_ = false;
};

// Sequence 0 of an engine and the tokens that its cache holds, so that a prompt that begins with
// them is not computed again.
class Generator {
 public:
  // Throws NotFound or Unsupported when the model has no usable tokenizer.
  explicit Generator(Engine& engine);

  // Continues `prompt` (token ids). Returns when a stop token or text, a limit or `cancel` ends
  // it; what was made until then is in the result. Throws InvalidArgument when the prompt is
  // longer than the context.
  GenerateResult generate(const std::vector<std::int32_t>& prompt, const GenerateOptions& options,
                          const TextSink& sink = nullptr,
                          const std::atomic<bool>* cancel = nullptr);
  std::shared_ptr<const Tokenizer> tokenizer() const { return tokenizer_; }
  Engine& engine() { return engine_; }

 private:
  std::size_t reuse(const std::vector<std::int32_t>& prompt);
  void decode(const GenerateOptions& options, const TextSink& sink, const std::atomic<bool>* cancel,
              GenerateResult& result);
  bool is_stop(std::int32_t token) const;

  Engine& engine_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<std::int32_t> stop_tokens_;
  std::vector<std::int32_t> cached_;  // tokens of sequence 0 that are in the cache
};

// A dialogue by the model's own template; the cache keeps what the turns share.
class Conversation {
 public:
  // Throws NotFound when the model ships no template.
  Conversation(Generator& generator, const std::string& system);
  // Adds the message and the answer to the history.
  GenerateResult ask(const std::string& message, const GenerateOptions& options,
                     const TextSink& sink = nullptr, const std::atomic<bool>* cancel = nullptr);
  void clear();
  const std::vector<ChatMessage>& messages() const { return messages_; }

 private:
  Generator& generator_;
  ChatTemplate template_;
  std::string system_;
  std::vector<ChatMessage> messages_;
};

}  // namespace tilewright
