#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/fixtures/golden: tiny random models as Hugging Face folders with the logits that
transformers computes for them in double precision. Needs torch, transformers and tokenizers; a CPU
will do: make_golden_models.py [FOLDER]

Every folder has expected.json (what, how, with which versions) and expected.bin: the input ids
[tokens] as int32, then the logits [tokens, vocab] as float32, little-endian.
"""

import json
import pathlib
import sys

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

ROOT = pathlib.Path(__file__).resolve().parent.parent
VOCAB, TOKENS = 320, 72
END = "<|endoftext|>"
MARKS = [END, "<|im_start|>", "<|im_end|>"]
CHAT = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
        "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")

LLAMA = dict(vocab_size=VOCAB, hidden_size=64, intermediate_size=136, num_hidden_layers=2,
             num_attention_heads=4, num_key_value_heads=2, head_dim=32,
             max_position_embeddings=256, rms_norm_eps=1e-5, bos_token_id=0, eos_token_id=2,
             hidden_act="silu")
LLAMA3_SCALING = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                  "high_freq_factor": 4.0, "original_max_position_embeddings": 64}


def llama_tied():
    return LlamaForCausalLM(LlamaConfig(
        **LLAMA, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}))


def llama_untied_llama3():
    return LlamaForCausalLM(LlamaConfig(
        **{**LLAMA, "head_dim": 40}, tie_word_embeddings=False,
        rope_parameters={"rope_theta": 500000.0, **LLAMA3_SCALING}))


def llama_bias():
    return LlamaForCausalLM(LlamaConfig(
        **{**LLAMA, "num_attention_heads": 2}, tie_word_embeddings=False, attention_bias=True,
        rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0}))


def gpt2():
    return GPT2LMHeadModel(GPT2Config(
        vocab_size=VOCAB, n_positions=128, n_embd=64, n_layer=2, n_head=2, bos_token_id=0,
        eos_token_id=0))


MODELS = {"llama_tied": llama_tied, "llama_untied_llama3": llama_untied_llama3,
          "llama_bias": llama_bias, "gpt2": gpt2}
SHARDED = {"llama_untied_llama3": 3}
# Configurations as published before transformers 5 wrote rope_parameters and dtype.
OLDER_STYLE = {"llama_untied_llama3": {"rope_theta": 500000.0, "rope_scaling": LLAMA3_SCALING,
                                       "torch_dtype": "float32"}}


def make_random(model, generator):
    """Weights whose logits spread over several units, with every bias and norm off its default,
    so that a forgotten one shows."""
    for name, weight in model.named_parameters():
        with torch.no_grad():
            noise = torch.randn(weight.shape, generator=generator)
            if weight.ndim == 1:
                is_norm = "norm" in name or ".ln_" in name
                centre = 1.0 if is_norm and name.endswith("weight") else 0.0
                weight.copy_(centre + 0.2 * noise)
            elif "embed" in name or "wte" in name or "wpe" in name:
                weight.copy_(0.4 * noise)
            elif "lm_head" in name:
                weight.copy_(noise * 2 / weight.shape[1] ** 0.5)
            else:
                fan_in = weight.shape[0] if "attn.c_" in name or "mlp.c_" in name else \
                    weight.shape[1]
                weight.copy_(noise * 1.4 / fan_in ** 0.5)


def train_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    text = [(ROOT / name).read_text(encoding="utf-8") for name in ("LICENSE",)]
    tokenizer.train_from_iterator(text, trainers.BpeTrainer(
        vocab_size=VOCAB, special_tokens=MARKS, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    assert tokenizer.get_vocab_size() == VOCAB
    return tokenizer


def save_weights(model, folder, shards):
    tied = model.config.tie_word_embeddings
    tensors = {name: value.detach().clone() for name, value in model.state_dict().items()
               if not (tied and name == "lm_head.weight")}
    names = sorted(tensors)
    if shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return
    index = {"metadata": {"total_size": sum(t.nbytes for t in tensors.values())},
             "weight_map": {}}
    for shard in range(shards):
        file = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        part = {name: tensors[name] for name in names[shard::shards]}
        save_file(part, folder / file, metadata={"format": "pt"})
        index["weight_map"].update({name: file for name in part})
    write_json(folder / "model.safetensors.index.json", index)


def save_config(config, folder, older):
    config.save_pretrained(folder)
    if older:
        path = folder / "config.json"
        values = json.loads(path.read_text(encoding="utf-8"))
        for key in ("rope_parameters", "dtype"):
            del values[key]
        write_json(path, {**values, **older})


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n",
                    encoding="utf-8")


def expected_logits(model, ids):
    with torch.no_grad():
        return model.double()(ids[None]).logits[0]


def make(name, folder, tokenizer):
    folder.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(20 + list(MODELS).index(name))
    model = MODELS[name]().float().eval()
    make_random(model, generator)
    model.config.dtype = "float32"
    model.config.architectures = [type(model).__name__]
    save_config(model.config, folder, OLDER_STYLE.get(name))
    save_weights(model, folder, SHARDED.get(name, 1))
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(folder / "tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": END, "eos_token": "<|im_end|>",
        "chat_template": CHAT, "model_max_length": 256, "clean_up_tokenization_spaces": False})
    ids = torch.randint(0, VOCAB, (TOKENS,), generator=generator)
    logits = expected_logits(model, ids)
    (folder / "expected.bin").write_bytes(
        ids.to(torch.int32).numpy().tobytes() + logits.float().numpy().tobytes())
    for path in folder.iterdir():
        path.chmod(0o644)
    write_json(folder / "expected.json", {
        "made_by": "tools/make_golden_models.py", "tokens": TOKENS, "vocab": VOCAB,
        "computed_in": "float64 on a CPU, from float32 weights; rotary angles and norms in "
                       "float32, as transformers does",
        "torch": torch.__version__, "transformers": transformers.__version__})
    top = logits.topk(2).values
    print(f"{name}: logits of standard deviation {logits.std():.2f}, top-two gap at least "
          f"{(top[:, 0] - top[:, 1]).min():.4f}")


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests/fixtures/golden"
    tokenizer = train_tokenizer()
    for name in MODELS:
        make(name, root / name, tokenizer)


if __name__ == "__main__":
    main()
