// SPDX-License-Identifier: Apache-2.0
// tokenizer.json and tokenizer_config.json of Hugging Face, byte-level BPE only. Truncation and
// padding are left to the caller, as transformers does.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/llm/formats/json_access.h"
#include "tilewright/llm/tokenizer/pre_tokenizer_names.h"
#include "tilewright/llm/tokenizer/tokenizer_spec.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;
using Object = JsonObject<Json>;

[[noreturn]] void unsupported(std::string_view where, std::string_view component) {
  TW_FAIL(Unsupported, where, ": ", component, " is not supported");
}

// The parts of a component: itself, or those of a Sequence, flat.
std::vector<const Json*> parts_of(const Json& component, const char* list, std::string_view where,
                                  int depth = 0) {
  TW_CHECK(depth < 8, Unsupported, where, ": sequences nested more than 8 deep");
  const Object object(component, where);
  if (object.text("type") != "Sequence") return {&component};
  const Json& members = object.get(list);
  TW_CHECK(members.is_array(), Format, where, ": ", list, " wants an array");
  std::vector<const Json*> parts;
  for (const Json& member : members) {
    const auto inner = parts_of(member, list, where, depth + 1);
    parts.insert(parts.end(), inner.begin(), inner.end());
  }
  return parts;
}

void read_normalizers(const Json& json, TokenizerSpec& spec, const std::string& where) {
  for (const Json* part : parts_of(json, "normalizers", where)) {
    const std::string& type = Object(*part, where).text("type");
    if (type == "NFC")
      spec.normalizers.push_back(Normalization::kNfc);
    else if (type == "NFD")
      spec.normalizers.push_back(Normalization::kNfd);
    else if (type == "NFKC")
      spec.normalizers.push_back(Normalization::kNfkc);
    else if (type == "NFKD")
      spec.normalizers.push_back(Normalization::kNfkd);
    else
      unsupported(where, str("normalizer ", type));
  }
}

PreTokenStep::Behavior parse_behavior(const std::string& text, const std::string& where) {
  using Behavior = PreTokenStep::Behavior;
  if (text == "Isolated") return Behavior::kIsolated;
  if (text == "Removed") return Behavior::kRemoved;
  if (text == "MergedWithPrevious") return Behavior::kMergedWithPrevious;
  if (text == "MergedWithNext") return Behavior::kMergedWithNext;
  if (text == "Contiguous") return Behavior::kContiguous;
  unsupported(where, str("split behavior ", text));
}

PreTokenStep parse_split(const Object& object, const std::string& where) {
  PreTokenStep step;
  const Object pattern(object.get("pattern"), where);
  step.kind =
      pattern.find("Regex") != nullptr ? PreTokenStep::Kind::kRegex : PreTokenStep::Kind::kLiteral;
  step.pattern = pattern.text(step.kind == PreTokenStep::Kind::kRegex ? "Regex" : "String");
  TW_CHECK(!step.pattern.empty(), Format, where, ": the pattern of a Split is empty");
  step.behavior = parse_behavior(object.text("behavior"), where);
  step.invert = object.boolean("invert", false);
  return step;
}

void add_byte_level(const Object& object, TokenizerSpec& spec) {
  if (object.boolean("add_prefix_space", true)) {
    spec.pre_tokenizer.emplace_back().kind = PreTokenStep::Kind::kPrefixSpace;
  }
  if (object.boolean("use_regex", true)) spec.pre_tokenizer.emplace_back().pattern = kGpt2Pattern;
}

void read_pre_tokenizer(const Json& json, TokenizerSpec& spec, const std::string& where) {
  bool byte_level = false;
  for (const Json* part : parts_of(json, "pretokenizers", where)) {
    TW_CHECK(!byte_level, Unsupported, where, ": a step after ByteLevel is not supported");
    const Object object(*part, where);
    const std::string& type = object.text("type");
    if (type == "ByteLevel") {
      add_byte_level(object, spec);
      byte_level = true;
    } else if (type == "Split") {
      spec.pre_tokenizer.push_back(parse_split(object, where));
    } else if (type == "Digits") {
      spec.pre_tokenizer.emplace_back().kind = object.boolean("individual_digits", false)
                                                   ? PreTokenStep::Kind::kDigits
                                                   : PreTokenStep::Kind::kDigitRuns;
    } else {
      unsupported(where, str("pre_tokenizer ", type));
    }
  }
  TW_CHECK(byte_level, Unsupported, where,
           ": a pre_tokenizer without ByteLevel is not supported: only byte-level BPE is");
}

void read_vocab(const Json& vocab, TokenizerSpec& spec) {
  const std::string where = str(spec.location, ": model.vocab");
  TW_CHECK(vocab.is_object(), Format, where, " wants an object");
  const std::size_t limit = 4 * vocab.size() + 65536;
  for (const auto& [token, value] : vocab.items()) {
    const std::int64_t id = json_int(value, token, where);
    TW_CHECK(id >= 0 && std::uint64_t(id) < limit, Format, where, ": '", token, "': id ", id,
             " is out of range of ", vocab.size(), " tokens");
    if (std::size_t(id) >= spec.tokens.size()) spec.tokens.resize(std::size_t(id) + 1);
    std::string& place = spec.tokens[std::size_t(id)];
    TW_CHECK(place.empty(), Format, where, ": '", place, "' and '", token, "' have the same id ",
             id);
    place = token;
  }
}

void read_merges(const Json& merges, TokenizerSpec& spec) {
  const std::string where = str(spec.location, ": model.merges");
  TW_CHECK(merges.is_array(), Format, where, " wants an array");
  spec.merges.reserve(merges.size());
  for (const Json& merge : merges) {
    if (merge.is_array()) {
      TW_CHECK(merge.size() == 2, Format, where, ": ", merge.size(), " parts in a pair");
      spec.merges.emplace_back(json_text(merge[0], "a part", where),
                               json_text(merge[1], "a part", where));
      continue;
    }
    const std::string& text = json_text(merge, "a merge", where);
    const std::size_t space = text.find(' ');
    TW_CHECK(space != std::string::npos && text.find(' ', space + 1) == std::string::npos, Format,
             where, ": '", text, "' is no pair");
    spec.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }
}

std::optional<std::int32_t> find_token(const TokenizerSpec& spec, std::string_view text) {
  for (const AddedToken& added : spec.added) {
    if (added.content == text) return added.id;
  }
  const auto found = std::find(spec.tokens.begin(), spec.tokens.end(), text);
  if (text.empty() || found == spec.tokens.end()) return std::nullopt;
  return std::int32_t(found - spec.tokens.begin());
}

void read_model(const Json& json, TokenizerSpec& spec) {
  const std::string where = str(spec.location, ": model");
  const Object model(json, where);
  const std::string type = model.text("type", "BPE");
  if (type != "BPE") unsupported(where, str("model type ", type));
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.text(key, "").empty()) unsupported(where, key);
  }
  if (model.boolean("byte_fallback", false)) unsupported(where, "byte_fallback");
  if (model.number("dropout", 0.0) != 0.0) unsupported(where, "dropout");
  read_vocab(model.get("vocab"), spec);
  read_merges(model.get("merges"), spec);
  spec.ignore_merges = model.boolean("ignore_merges", false);
  spec.fuse_unknown = model.boolean("fuse_unk", false);
  if (const Json* unknown = model.find("unk_token")) {
    const std::string& text = json_text(*unknown, "unk_token", where);
    spec.unknown = find_token(spec, text);
    TW_CHECK(spec.unknown, Format, where, ": unk_token '", text, "' is not in the vocabulary");
  }
}

AddedToken parse_added(const Object& object, std::int64_t id, const std::string& where) {
  TW_CHECK(id >= 0 && id <= INT32_MAX, Format, where, ": id ", id, " is out of range");
  AddedToken added;
  added.id = std::int32_t(id);
  added.content = object.text("content");
  added.special = object.boolean("special", false);
  added.normalized = object.boolean("normalized", !added.special);
  added.lstrip = object.boolean("lstrip", false);
  added.rstrip = object.boolean("rstrip", false);
  added.single_word = object.boolean("single_word", false);
  return added;
}

void read_added(const Json& json, TokenizerSpec& spec) {
  const std::string where = str(spec.location, ": added_tokens");
  TW_CHECK(json.is_array(), Format, where, " wants an array");
  for (const Json& entry : json) {
    const Object object(entry, where);
    spec.added.push_back(parse_added(object, object.integer("id"), where));
  }
}

// One item of a template: a special token's ids, or the text itself.
void read_template(const Json& json, TokenizerSpec& spec, const std::string& where) {
  const Object object(json, where);
  const Object tokens(object.get("special_tokens"), where);
  bool after_text = false;
  for (const Json& item : object.get("single")) {
    if (item.is_object() && item.contains("Sequence")) {
      after_text = true;
      continue;
    }
    const Object parts(item, where);
    const std::string& name = Object(parts.get("SpecialToken"), where).text("id");
    const Json& ids = Object(tokens.get(name.c_str()), where).get("ids");
    TW_CHECK(ids.is_array(), Format, where, ": ids of ", name, " want an array");
    for (const Json& id : ids) {
      const std::int64_t number = json_int(id, name, where);
      TW_CHECK(number >= 0 && number <= INT32_MAX, Format, where, ": id ", number,
               " is out of range");
      (after_text ? spec.suffix : spec.prefix).push_back(std::int32_t(number));
    }
  }
}

void read_post_processor(const Json& json, TokenizerSpec& spec, const std::string& where) {
  for (const Json* part : parts_of(json, "processors", where)) {
    const std::string& type = Object(*part, where).text("type");
    // ByteLevel here only moves offsets.
    if (type == "ByteLevel") continue;
    if (type != "TemplateProcessing") unsupported(where, str("post_processor ", type));
    read_template(*part, spec, where);
  }
}

// A token given as text or as an object with its content.
std::optional<std::int32_t> config_token(const Object& config, const char* key,
                                         const TokenizerSpec& spec, const std::string& where) {
  const Json* value = config.find(key);
  if (value == nullptr) return std::nullopt;
  const std::string& text = value->is_string() ? value->get_ref<const std::string&>()
                                               : Object(*value, where).text("content");
  return find_token(spec, text);
}

void read_config(std::string_view text, TokenizerSpec& spec) {
  const std::string where = str(spec.location, ": tokenizer_config.json");
  const auto json = parse_json<Json>(text, where);
  const Object config(json, where);
  if (const Json* decoder = config.find("added_tokens_decoder")) {
    TW_CHECK(decoder->is_object(), Format, where, ": added_tokens_decoder wants an object");
    for (const auto& [key, value] : decoder->items()) {
      TW_CHECK(!key.empty() && key.size() < 10 &&
                   key.find_first_not_of("0123456789") == std::string::npos,
               Format, where, ": added_tokens_decoder: '", key, "' is no token id");
      const Object object(value, where);
      if (find_token(spec, object.text("content"))) continue;
      spec.added.push_back(parse_added(object, std::stoll(key), where));
    }
  }
  spec.bos = config_token(config, "bos_token", spec, where);
  spec.eos = config_token(config, "eos_token", spec, where);
  if (const Json* add = config.find("add_bos_token"); add != nullptr && spec.bos) {
    const bool wanted = json_bool(*add, "add_bos_token", where);
    if (wanted && spec.prefix.empty()) spec.prefix = {*spec.bos};
    if (!wanted && spec.prefix == std::vector{*spec.bos}) spec.prefix.clear();
  }
}

}  // namespace

TokenizerSpec parse_tokenizer_json(std::string_view tokenizer_json, std::string_view config_json,
                                   std::string_view location) {
  TokenizerSpec spec;
  spec.location = location;
  const auto json = parse_json<Json>(tokenizer_json, location);
  const Object root(json, location);
  read_model(root.get("model"), spec);
  if (const Json* added = root.find("added_tokens")) read_added(*added, spec);
  if (const Json* normalizer = root.find("normalizer")) {
    read_normalizers(*normalizer, spec, str(location, ": normalizer"));
  }
  const Json* pre = root.find("pre_tokenizer");
  TW_CHECK(pre != nullptr, Unsupported, location,
           ": a tokenizer without pre_tokenizer is not "
           "supported: only byte-level BPE is");
  read_pre_tokenizer(*pre, spec, str(location, ": pre_tokenizer"));
  if (const Json* decoder = root.find("decoder")) {
    const std::string& type = Object(*decoder, location).text("type");
    if (type != "ByteLevel") unsupported(location, str("decoder ", type));
  }
  if (const Json* post = root.find("post_processor")) {
    read_post_processor(*post, spec, str(location, ": post_processor"));
  }
  if (!config_json.empty()) read_config(config_json, spec);
  return spec;
}

}  // namespace tilewright
