// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/formats/model_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tilewright/base/error.h"
#include "tilewright/llm/formats/gguf_writer_internal.h"
#include "tilewright/llm/formats/model_readers.h"
#include "tilewright/llm/formats/test_folder_internal.h"

namespace tilewright {
namespace {

using fixtures::GgufWriter;
using fixtures::TestFolder;
using fixtures::tiny_llama;

template <class Kind, class Action>
void expect_error(const Action& action, const std::string& part) {
  try {
    action();
    ADD_FAILURE() << "accepted, expected: " << part;
  } catch (const Kind& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(ModelFiles, OpensGguf) {
  TestFolder folder;
  const auto path = folder.write("tiny.gguf", tiny_llama().bytes());
  for (const auto& given : {path, folder.path()}) {
    const auto model = open_model(given);
    const ModelConfig& config = model->config();
    EXPECT_EQ(config.architecture, Architecture::kLlama);
    EXPECT_EQ(config.layers, 1);
    EXPECT_EQ(config.head_dim, 4);
    EXPECT_EQ(config.rope_dim, 4);
    EXPECT_EQ(config.vocab, 16);
    EXPECT_EQ(config.rope_base, 500.0F);
    EXPECT_EQ(config.rope_pairing, RopePairing::kInterleaved);
    EXPECT_TRUE(config.tie_embeddings);
    EXPECT_FALSE(config.attention_bias);
    EXPECT_EQ(model->weights().get("blk.0.attn_k.weight").shape, (Shape{4, 8}));
    EXPECT_THROW(model->load_tokenizer(), NotFound);
    EXPECT_THROW(model->load_chat_template(), NotFound);
  }
}

TEST(ModelFiles, NotAModel) {
  TestFolder folder;
  expect_error<NotFound>([&] { open_model(folder.path() / "gone.gguf"); }, "gone.gguf");
  expect_error<NotFound>([&] { open_model(folder.path()); }, "neither config.json nor");
  const auto text = folder.write("notes.txt", "just some text, no model");
  expect_error<FormatError>([&] { open_model(text); }, "not a GGUF file");
  folder.write("a.gguf", "x");
  folder.write("b.gguf", "x");
  expect_error<InvalidArgument>([&] { open_model(folder.path()); }, "2 .gguf files");
}

TEST(ModelFiles, GgufMustFitTheArchitecture) {
  TestFolder folder;
  const auto open = [&](const GgufWriter& file) {
    open_model(folder.write("m.gguf", file.bytes()));
  };
  GgufWriter other;
  other.text("general.architecture", "mamba");
  expect_error<Unsupported>([&] { open(other); }, "architecture 'mamba'");
  expect_error<NotFound>([&] { open(GgufWriter()); }, "general.architecture");
  expect_error<Unsupported>([&] { open(tiny_llama().integer("llama.expert_count", 8)); },
                            "experts");
  expect_error<Unsupported>([&] { open(tiny_llama().text("llama.rope.scaling.type", "yarn")); },
                            "rope scaling 'yarn'");
  expect_error<FormatError>([&] { open(tiny_llama().integer("llama.rope.dimension_count", 3)); },
                            "rope dimension is 3");
  expect_error<FormatError>([&] { open(tiny_llama().tensor("rope_freqs.weight", {3}, 0, 12)); },
                            "rope factors");
  expect_error<FormatError>([&] { open(tiny_llama().tensor("output.weight", {16, 4}, 0, 256)); },
                            "output.weight: shape is [16, 4]");
  expect_error<FormatError>([&] { open(tiny_llama().integer("llama.attention.key_length", 2)); },
                            "blk.0.attn_q.weight: shape is [8, 8]");
  // A second layer that the file does not have.
  std::string bytes = tiny_llama().bytes();
  const std::size_t at = bytes.find("llama.block_count") + 17 + 4;
  bytes[at] = 2;
  expect_error<NotFound>([&] { open_model(folder.write("m.gguf", bytes)); }, "blk.1.attn_norm");
}

TEST(ModelFiles, GgufRopeFactors) {
  GgufWriter file = tiny_llama();
  file.text("llama.rope.scaling.type", "linear").real("llama.rope.scaling.factor", 4.0F);
  TestFolder folder;
  ModelConfig config = open_model(folder.write("m.gguf", file.bytes()))->config();
  EXPECT_EQ(config.rope_scaling.kind, RopeScaling::Kind::kLinear);
  EXPECT_FLOAT_EQ(rope_inverse_frequencies(config)[0], 0.25F);
  EXPECT_FLOAT_EQ(rope_inverse_frequencies(config)[1], float(0.25 / std::sqrt(500.0)));
}

TEST(ModelFiles, GgufRopeFreqsTensor) {
  TestFolder folder;
  const auto model = open_model(
      folder.write("m.gguf", tiny_llama().tensor("rope_freqs.weight", {2}, 0, 8).bytes()));
  const ModelConfig& config = model->config();
  ASSERT_EQ(config.rope_scaling.kind, RopeScaling::Kind::kFactors);
  float stored[2];
  std::memcpy(stored, model->weights().get("rope_freqs.weight").data.data(), sizeof(stored));
  EXPECT_EQ(config.rope_scaling.factors, (std::vector<float>{stored[0], stored[1]}));
  EXPECT_FLOAT_EQ(rope_inverse_frequencies(config)[1], float(1 / std::sqrt(500.0) / stored[1]));
}

TEST(ModelFiles, Llama3Scaling) {
  ModelConfig config = hugging_face_config(
      R"({"model_type":"llama","hidden_size":8,"num_hidden_layers":1,"intermediate_size":16,
          "num_attention_heads":2,"vocab_size":16,"head_dim":128,"rope_theta":500000.0,
          "max_position_embeddings":131072,"rope_scaling":{"rope_type":"llama3","factor":8.0,
          "low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":8192}})",
      "config.json");
  EXPECT_EQ(config.rope_scaling.kind, RopeScaling::Kind::kLlama3);
  const auto frequency = rope_inverse_frequencies(config);
  ASSERT_EQ(frequency.size(), 64U);
  // Short waves stay, long ones are slowed by the factor: wavelengths under 2048 and over 8192.
  EXPECT_FLOAT_EQ(frequency[0], 1.0F);
  EXPECT_FLOAT_EQ(frequency[63], float(std::pow(500000.0, -126.0 / 128) / 8));
  const double middle = std::pow(500000.0, -64.0 / 128);  // wavelength 4443
  const double kept = (8192 * middle / (2 * M_PI) - 1) / 3;
  EXPECT_FLOAT_EQ(frequency[32], float((1 - kept) * middle / 8 + kept * middle));
}

TEST(ModelFiles, HuggingFaceConfigs) {
  const auto read = [](const std::string& json) {
    return hugging_face_config(json, "config.json");
  };
  const ModelConfig gpt2 = read(
      R"({"model_type":"gpt2","n_layer":2,"n_embd":8,"n_head":2,"vocab_size":16,"n_positions":32})");
  EXPECT_EQ(gpt2.architecture, Architecture::kGpt2);
  EXPECT_EQ(gpt2.ffn_dim, 32);
  EXPECT_TRUE(gpt2.tie_embeddings && gpt2.attention_bias && gpt2.ffn_bias);
  EXPECT_EQ(gpt2.activation, Activation::kGeluTanh);
  const std::string llama =
      R"({"model_type":"llama","hidden_size":8,"num_hidden_layers":1,"intermediate_size":16,
          "num_attention_heads":2,"vocab_size":16)";
  // transformers 5 has the rope's numbers in an object of their own.
  const ModelConfig five =
      read(llama + R"(,"rope_parameters":{"rope_theta":5e5,"rope_type":"linear","factor":2}})");
  EXPECT_EQ(five.rope_base, 5e5F);
  EXPECT_EQ(five.rope_scaling.factor, 2.0F);
  EXPECT_EQ(five.rope_pairing, RopePairing::kHalfSplit);
  const auto refuse = [&](const std::string& rest, const std::string& part) {
    expect_error<Error>([&] { read(llama + rest); }, part);
  };
  refuse("", "not valid JSON");
  refuse(R"(,"hidden_size":"8"})", "hidden_size is string");
  refuse(R"(,"vocab_size":0})", "vocabulary size is 0");
  refuse(R"(,"num_attention_heads":0})", "num_attention_heads is 0");
  refuse(R"(,"num_key_value_heads":3})", "key/value heads");
  refuse(R"(,"hidden_act":"relu"})", "activation 'relu'");
  refuse(R"(,"rope_scaling":{"type":"yarn"}})", "rope scaling 'yarn'");
  refuse(R"(,"quantization_config":{"quant_method":"gptq"}})", "quantisation 'gptq'");
  refuse(R"(,"model_type":"mamba"})", "architecture 'mamba'");
  refuse(R"(,"head_dim":9223372036854775807})", "head_dim");
  expect_error<FormatError>([&] { read("[]"); }, "wants an object");
}

TEST(ModelFiles, HuggingFaceNames) {
  const auto llama = [](const char* name) {
    return hugging_face_name(Architecture::kLlama, name).name;
  };
  EXPECT_EQ(llama("model.embed_tokens.weight"), "token_embd.weight");
  EXPECT_EQ(llama("model.layers.12.self_attn.q_proj.weight"), "blk.12.attn_q.weight");
  EXPECT_EQ(llama("model.layers.0.self_attn.k_proj.bias"), "blk.0.attn_k.bias");
  EXPECT_EQ(llama("model.layers.3.mlp.down_proj.weight"), "blk.3.ffn_down.weight");
  EXPECT_EQ(llama("model.norm.weight"), "output_norm.weight");
  EXPECT_EQ(llama("lm_head.weight"), "output.weight");
  EXPECT_EQ(llama("model.layers.0.self_attn.rotary_emb.inv_freq"), "");
  EXPECT_EQ(llama("model.layers.x.self_attn.q_proj.weight"),
            "model.layers.x.self_attn.q_proj.weight");
  const auto gpt2 = hugging_face_name(Architecture::kGpt2, "transformer.h.1.attn.c_attn.weight");
  EXPECT_EQ(gpt2.name, "blk.1.attn_qkv.weight");
  EXPECT_TRUE(gpt2.transposed);
  EXPECT_FALSE(hugging_face_name(Architecture::kGpt2, "h.1.attn.c_attn.bias").transposed);
  EXPECT_EQ(hugging_face_name(Architecture::kGpt2, "h.1.attn.bias").name, "");
  EXPECT_EQ(hugging_face_name(Architecture::kGpt2, "wpe.weight").name, "position_embd.weight");
}

// A GPT-2 of one layer: every matrix stored [in, out].
TEST(ModelFiles, OpensHuggingFaceFolder) {
  TestFolder folder;
  folder.write("config.json", R"({"model_type":"gpt2","n_layer":1,"n_embd":4,"n_head":2,
                                  "vocab_size":8,"n_positions":16,"eos_token_id":7})");
  std::string header = "{";
  std::size_t end = 0;
  const auto add = [&](const std::string& name, std::vector<int> shape) {
    std::size_t bytes = 4;
    std::string extents;
    for (const int extent : shape) {
      bytes *= std::size_t(extent);
      extents += str(extents.empty() ? "" : ",", extent);
    }
    header += str(header.size() > 1 ? "," : "", '"', name, R"(":{"dtype":"F32","shape":[)", extents,
                  R"(],"data_offsets":[)", end, ",", end + bytes, "]}");
    end += bytes;
  };
  add("wte.weight", {8, 4});
  add("wpe.weight", {16, 4});
  for (const char* norm : {"ln_f", "h.0.ln_1", "h.0.ln_2"}) {
    add(str(norm, ".weight"), {4});
    add(str(norm, ".bias"), {4});
  }
  const auto layer = [&](const std::string& name, int in, int out) {
    add(name + ".weight", {in, out});
    add(name + ".bias", {out});
  };
  layer("h.0.attn.c_attn", 4, 12);
  layer("h.0.attn.c_proj", 4, 4);
  layer("h.0.mlp.c_fc", 4, 16);
  layer("h.0.mlp.c_proj", 16, 4);
  folder.write("model.safetensors", fixtures::safetensors(header + "}", end));
  folder.write("tokenizer_config.json", R"({"chat_template":[{"name":"default","template":"T"}]})");
  const auto model = open_model(folder.path());
  EXPECT_TRUE(model->weights().get("blk.0.ffn_up.weight", Shape{16, 4}).transposed);
  EXPECT_EQ(model->chat_template_source(), "T");
  EXPECT_EQ(model->load_chat_template().render({}, {}), "T");
  expect_error<NotFound>([&] { model->load_tokenizer(); }, "no tokenizer");
  folder.write("chat_template.jinja", "J");
  EXPECT_EQ(model->chat_template_source(), "J");
  folder.write("model.safetensors", fixtures::safetensors("{}", 0));
  expect_error<NotFound>([&] { open_model(folder.path()); }, "tensor token_embd.weight is missing");
}

}  // namespace
}  // namespace tilewright
