#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the seed corpora of the model readers' fuzz targets: tools/make_fuzz_seeds.py

Seeds lie in the folder NAME_fuzz_corpus beside NAME_fuzz.cpp. Inputs that a fuzzer found are kept
there too, named found-*; this script leaves them alone.
"""

import json
import pathlib
import struct

LLM = pathlib.Path(__file__).resolve().parent.parent / "tilewright/llm"


def write(folder, name, data):
    path = LLM / folder
    path.mkdir(parents=True, exist_ok=True)
    (path / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5


def pair(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def number(key, value):
    return pair(key, U32, struct.pack("<I", value))


def real(key, value):
    return pair(key, F32, struct.pack("<f", value))


def strings(key, values):
    head = struct.pack("<IQ", STRING, len(values))
    return pair(key, ARRAY, head + b"".join(text(v) for v in values))


def integers(key, values):
    return pair(key, ARRAY, struct.pack(f"<IQ{len(values)}i", I32, len(values), *values))


def gguf(pairs, tensors, version=3):
    infos, data = b"", b""
    for name, shape, kind, size in tensors:
        infos += text(name) + struct.pack("<I", len(shape))
        infos += b"".join(struct.pack("<Q", n) for n in reversed(shape))
        infos += struct.pack("<IQ", kind, len(data))
        data += bytes(i % 251 for i in range(size))
        data += b"\0" * (-len(data) % 32)
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs))
    head += b"".join(pairs) + infos
    return head + b"\0" * (-len(head) % 32) + data


def llama_pairs():
    return [pair("general.architecture", STRING, text("llama")), number("llama.block_count", 1),
            number("llama.embedding_length", 8), number("llama.feed_forward_length", 16),
            number("llama.attention.head_count", 2), number("llama.attention.head_count_kv", 1),
            number("llama.context_length", 32), real("llama.rope.freq_base", 500.0),
            real("llama.attention.layer_norm_rms_epsilon", 1e-5)]


def llama_tensors():
    shapes = {"token_embd": [16, 8], "output_norm": [8], "blk.0.attn_norm": [8],
              "blk.0.ffn_norm": [8], "blk.0.attn_q": [8, 8], "blk.0.attn_k": [4, 8],
              "blk.0.attn_v": [4, 8], "blk.0.attn_output": [8, 8], "blk.0.ffn_gate": [16, 8],
              "blk.0.ffn_up": [16, 8], "blk.0.ffn_down": [8, 16], "rope_freqs": [2]}
    tensors = []
    for name, shape in shapes.items():
        size = 4
        for extent in shape:
            size *= extent
        tensors.append((name + ".weight", shape, 0, size))
    return tensors


def tokenizer_pairs(pre):
    tokens = list("abcdeĠ") + ["ab", "Ġa", "<|im_end|>", "Ċ", "1", "2"]
    return [pair("tokenizer.ggml.model", STRING, text("gpt2")),
            pair("tokenizer.ggml.pre", STRING, text(pre)), strings("tokenizer.ggml.tokens", tokens),
            strings("tokenizer.ggml.merges", ["a b", "Ġ a"]),
            integers("tokenizer.ggml.token_type", [3 if "<" in t else 1 for t in tokens]),
            number("tokenizer.ggml.eos_token_id", 8), number("tokenizer.ggml.bos_token_id", 8),
            pair("tokenizer.ggml.add_bos_token", BOOL, b"\1")]


def gguf_seeds():
    folder = "formats/gguf_fuzz_corpus"
    write(folder, "empty", gguf([], []))
    write(folder, "model", gguf(llama_pairs(), llama_tensors()))
    write(folder, "v2-tokenizer", gguf(llama_pairs() + tokenizer_pairs("smollm"), [], 2))
    for pre in ("gpt-2", "llama-bpe", "qwen2", "default"):
        write(folder, "tokenizer-" + pre, gguf(tokenizer_pairs(pre), []))
    write(folder, "blocks", gguf([], [("q", [2, 32], 8, 68), ("k", [1, 256], 14, 210)]))


def safetensors_seeds():
    folder = "formats/safetensors_fuzz_corpus"
    header = {"__metadata__": {"format": "pt"},
              "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
              "b": {"dtype": "BF16", "shape": [20], "data_offsets": [24, 64]}}
    data = json.dumps(header).encode()
    write(folder, "header", b"\1" + data)
    write(folder, "whole", b"\0" + struct.pack("<Q", len(data)) + data + bytes(64))
    write(folder, "empty", b"\1{}")
    one = {"x": {"dtype": "I64", "shape": [], "data_offsets": [0, 8]}}
    write(folder, "scalar", b"\1" + json.dumps(one).encode())


def tokenizer_seeds():
    folder = "tokenizer/tokenizer_json_fuzz_corpus"
    vocab = {t: i for i, t in enumerate(list("abcd1Ġ'sC") + ["ab", "Ã", "©"])}
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    llama = r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?!\S)|\s+"
    split = {"type": "Split", "pattern": {"Regex": llama}, "behavior": "Isolated", "invert": False}
    added = [{"id": 12, "content": "<|a|>", "special": True, "lstrip": True, "rstrip": True},
             {"id": 13, "content": "caf", "single_word": True, "normalized": True}]
    template = {"type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "<|a|>", "type_id": 0}}, {"Sequence": {"id": "A"}}],
                "special_tokens": {"<|a|>": {"ids": [12]}}}
    model = {"type": "BPE", "vocab": vocab, "merges": ["a b"]}
    variants = {
        "gpt2": {"model": model, "pre_tokenizer": level, "decoder": level, "added_tokens": added},
        "llama3": {"model": dict(model, ignore_merges=True, merges=[["a", "b"]]),
                   "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                       split, dict(level, use_regex=False, add_prefix_space=False)]},
                   "post_processor": template, "added_tokens": added},
        "smollm": {"model": dict(model, unk_token="C", fuse_unk=True), "normalizer": {"type": "NFC"},
                   "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                       {"type": "Digits", "individual_digits": False}, level]}},
        "literal": {"model": model, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext"},
            {"type": "Split", "pattern": {"Regex": "[ab]+"}, "behavior": "Removed", "invert": True},
            {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Contiguous"}, level]}}}
    for name, value in variants.items():
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        write(folder, name, data)
        write(folder, name + "-text", data + b"\0ab caf <|a|> \xc3\xa9 12345\n\n's\xff\xe2\x82")


def template_seeds():
    folder = "chat/chat_template_fuzz_corpus"
    seeds = {
        "chatml": "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + "
                  "message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
                  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
        "loop": "{%- for m in messages if m.role != 'x' -%}{{ loop.index }}/{{ loop.length }}"
                "{{ loop.first or loop.last }}{% if loop.nextitem is defined %},{% endif %}"
                "{% break %}{% else %}none{%- endfor +%}",
        "namespace": "{% set ns = namespace(n=0, s='') %}{% for c in 'abc' %}{% set ns.n = ns.n + 1 %}"
                     "{% set ns.s = ns.s ~ c %}{% endfor %}{{ ns.n }}{{ ns.s[::-1] }}",
        "macro": "{% macro f(a, b=2) %}[{{ a }}{{ b * 3 // 2 % 5 }}]{% endmacro %}{{ f(1) }}{{ f(2, b=4) }}",
        "tools": "{% for t in messages[2].tool_calls %}{{ t.function | tojson(indent=2) }}"
                 "{% for k, v in t.function.arguments | items %}{{ k }}={{ v }}{% endfor %}{% endfor %}",
        "filters": "{{ messages | map(attribute='role') | join(', ') | upper | trim }}"
                   "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}"
                   "{{ x | default('d') }}{{ [3, 1.5, none, true] | tojson }}{{ 'a-b c' | title }}",
        "methods": "{{ ' a,b '.strip().split(',')[0] }}{{ 'abc'.startswith(('a', 'b')) }}"
                   "{{ 'x'.replace('x', 'yy') }}{{ {'a': 1}.get('b', 2) }}{{ 'aXa'.lower().find('x') }}",
        "tests": "{{ 1 if x is not defined and messages is iterable and 3 is divisibleby 3 else 2 }}"
                 "{{ 'a' in 'abc' and 1 not in [2] }}{{ not (1 < 2 <= 3 != 4) }}",
        "space": "  {%- raw %} {{ x }} {% endraw -%}  \n  {# note #}\n  {% if true %}\n a\n  {% endif %}\n",
        "raise": "{{ raise_exception('no: ' + messages[0].role) }}",
        "time": "{{ strftime_now('%d %b %Y') }}{% for i in range(3, 0, -1) %}{{ i }}{% endfor %}",
        "block": "{% set a %}text {{ 1 + 1 }}{% endset %}{% generation %}{{ a | length }}{% endgeneration %}"}
    for name, source in seeds.items():
        write(folder, name, source)


if __name__ == "__main__":
    gguf_seeds()
    safetensors_seeds()
    tokenizer_seeds()
    template_seeds()
