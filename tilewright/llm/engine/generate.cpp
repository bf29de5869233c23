// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/engine/generate.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool is_set(const std::atomic<bool>* flag) { return flag != nullptr && flag->load(); }

}  // namespace

std::string_view name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStopToken: return "stop_token";
    case FinishReason::kStopText: return "stop_text";
    case FinishReason::kLength: return "length";
    case FinishReason::kContext: return "context_full";
    case FinishReason::kCancelled: return "cancelled";
  }
  return "unknown";
}

std::string StopMatcher::push(std::string_view text) {
  if (found_) return {};
  held_ += text;
  std::size_t cut = std::string::npos;
  for (const std::string& stop : stop_) {
    if (!stop.empty()) cut = std::min(cut, held_.find(stop));
  }
  if (cut != std::string::npos) {
    found_ = true;
    held_.resize(cut);
    return std::exchange(held_, {});
  }
  std::size_t keep = 0;
  for (const std::string& stop : stop_) {
    for (std::size_t n = std::min(stop.size(), held_.size()); n > keep; --n) {
      if (held_.ends_with(std::string_view(stop).substr(0, n))) keep = n;
    }
  }
  std::string safe = held_.substr(0, held_.size() - keep);
  held_.erase(0, safe.size());
  return safe;
}

std::string StopMatcher::flush() { return std::exchange(held_, {}); }

Generator::Generator(Engine& engine)
    : engine_(engine), tokenizer_(engine.files().load_tokenizer()) {
  stop_tokens_ = engine.files().stop_tokens(*tokenizer_);
}

bool Generator::is_stop(std::int32_t token) const {
  return std::find(stop_tokens_.begin(), stop_tokens_.end(), token) != stop_tokens_.end();
}

// The last token of the prompt always runs: its logits are wanted.
std::size_t Generator::reuse(const std::vector<std::int32_t>& prompt) {
  const auto limit = std::min(cached_.size(), prompt.size() - 1);
  std::size_t same = 0;
  while (same < limit && cached_[same] == prompt[same]) ++same;
  engine_.truncate(0, std::int64_t(same));
  cached_.resize(same);
  return same;
}

GenerateResult Generator::generate(const std::vector<std::int32_t>& prompt,
                                   const GenerateOptions& options, const TextSink& sink,
                                   const std::atomic<bool>* cancel) {
  TW_CHECK(!prompt.empty(), InvalidArgument, "the prompt is empty; give at least one token");
  const auto start = std::chrono::steady_clock::now();
  GenerateResult result;
  result.reused_tokens = std::int64_t(reuse(prompt));
  result.prompt_tokens = std::int64_t(prompt.size()) - result.reused_tokens;
  engine_.set_sampling(0, options.sampling);
  try {
    engine_.prefill(0, std::span(prompt).subspan(std::size_t(result.reused_tokens)), [&] {
      if (is_set(cancel)) TW_FAIL(Cancelled, "stopped while reading the prompt");
    });
  } catch (const Cancelled&) {
    cached_.assign(prompt.begin(), prompt.begin() + engine_.length());
    result.reason = FinishReason::kCancelled;
    result.prompt_seconds = seconds_since(start);
    return result;
  }
  cached_ = prompt;
  engine_.synchronize();
  result.prompt_seconds = seconds_since(start);
  if (options.max_tokens != 0) decode(options, sink, cancel, result);
  engine_.truncate(0, std::int64_t(cached_.size()));
  return result;
}

// On a GPU the next step is started before the last token is looked at; one step may be wasted.
void Generator::decode(const GenerateOptions& options, const TextSink& sink,
                       const std::atomic<bool>* cancel, GenerateResult& result) {
  StreamDecoder decoder(tokenizer_);
  StopMatcher matcher(options.stop);
  const bool ahead = !engine_.device().is_cpu();
  const auto emit = [&](const std::string& text) {
    if (text.empty()) return;
    result.text += text;
    if (sink) sink(text);
  };
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const std::int64_t made = std::int64_t(result.tokens.size()) + 1;  // with the one to fetch
    const bool may_step = engine_.length() < engine_.capacity() &&
                          (options.max_tokens < 0 || made < options.max_tokens);
    if (ahead && may_step) engine_.step();
    const std::int32_t token = engine_.fetch()[0];
    result.tokens.push_back(token);
    if (!options.ignore_stop_tokens && is_stop(token)) {
      result.reason = FinishReason::kStopToken;
      break;
    }
    // Models pad their vocabulary; the tokenizer has no text for what was added.
    if (token < tokenizer_->vocab_size()) emit(matcher.push(decoder.push(token)));
    if (matcher.found()) {
      result.reason = FinishReason::kStopText;
      break;
    }
    if (is_set(cancel)) {
      result.reason = FinishReason::kCancelled;
      break;
    }
    if (!may_step) {
      result.reason = made == options.max_tokens ? FinishReason::kLength : FinishReason::kContext;
      break;
    }
    cached_.push_back(token);
    if (!ahead) engine_.step();
    result.decode_bytes += double(engine_.bytes_per_step());
  }
  result.decode_seconds = seconds_since(start);
  result.decode_steps = std::int64_t(result.tokens.size()) - 1;
  emit(matcher.push(decoder.flush()));
  if (!matcher.found()) emit(matcher.flush());
}

Conversation::Conversation(Generator& generator, const std::string& system)
    : generator_(generator),
      template_(generator.engine().files().load_chat_template()),
      system_(system) {
  clear();
}

void Conversation::clear() {
  messages_.clear();
  if (!system_.empty()) messages_.push_back({"system", system_});
}

GenerateResult Conversation::ask(const std::string& message, const GenerateOptions& options,
                                 const TextSink& sink, const std::atomic<bool>* cancel) {
  const Tokenizer& tokenizer = *generator_.tokenizer();
  RenderOptions render;
  render.bos_token = tokenizer.bos_text();
  render.eos_token = tokenizer.eos_text();
  messages_.push_back({"user", message});
  try {
    const std::string text = template_.render(messages_, render);
    // The template writes the special tokens, the beginning of text among them.
    const std::vector<std::int32_t> prompt = tokenizer.encode(
        text, {.add_special = false, .parse_special = true, .reject_invalid_utf8 = true});
    GenerateResult result = generator_.generate(prompt, options, sink, cancel);
    messages_.push_back({"assistant", result.text});
    return result;
  } catch (...) {
    messages_.pop_back();
    throw;
  }
}

}  // namespace tilewright
